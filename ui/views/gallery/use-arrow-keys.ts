import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isShortcut, isTyping } from '../../parts/keyboard.ts';

/** Returns the index of the card that has the focus, or that is around it; -1 for none. */
export function focusedIndex(scroller: HTMLElement | null): number {
  const { activeElement } = document;
  const link = scroller?.contains(activeElement) ? activeElement?.closest('li')?.querySelector('[data-index]') : null;
  return link instanceof HTMLElement ? Number(link.dataset.index) : -1;
}

/** Returns how many of the cards, which are all in the document, are in a row. */
function columnsOf(scroller: HTMLElement | null): number {
  const [first, ...others] = scroller?.querySelectorAll<HTMLElement>('[data-index]') ?? [];
  return 1 + others.filter(({ offsetTop }) => offsetTop === first?.offsetTop).length;
}

/**
 * Moves the focus between cards. A card that is not in the document yet is focused when it is added. `grid`: undefined
 * where all of them are in the document.
 */
export function useArrowKeys(
  scroller: { readonly current: HTMLElement | null },
  grid: { readonly columns: number; readonly rowHeight: number } | undefined,
  count: number,
) {
  const [focused, setFocused] = useState<number>();
  useLayoutEffect(() => {
    if (focused === undefined) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-index="${focused}"]`);
    if (link === null || link === undefined) return;
    link.focus({ preventScroll: grid !== undefined });
    setFocused(undefined);
  });
  const move = (event: KeyboardEvent) => {
    if (!/^Arrow/.test(event.key) || isShortcut(event) || isTyping(event) || count === 0) return;
    event.preventDefault();
    const columns = grid?.columns ?? columnsOf(scroller.current);
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns };
    const step = steps[event.key] ?? columns;
    const from = focusedIndex(scroller.current);
    focus(from === -1 ? 0 : Math.min(count - 1, Math.max(0, from + step)));
  };
  const focus = (to: number) => {
    const columns = grid?.columns ?? 1;
    const { current } = scroller;
    if (current !== null && grid !== undefined) {
      const { rowHeight } = grid;
      const top = Math.floor(to / columns) * rowHeight;
      if (top < current.scrollTop) current.scrollTo({ top });
      else if (top + rowHeight > current.scrollTop + current.clientHeight)
        current.scrollTo({ top: top + rowHeight - current.clientHeight });
    }
    setFocused(to);
  };
  // Arrow keys work anywhere on the page, unless the focused control uses them itself.
  const latest = useRef(move);
  latest.current = move;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.activeElement?.matches('body, h1')) latest.current(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return { move, focus, focused };
}
