import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isRemoved } from '../api/removal.ts';
import { useKept } from './kept.ts';

interface Place {
  /** How far the list is scrolled. */
  readonly top: number;
  /** The `data-place` of the focused link, then of the next and of the previous link. */
  readonly focused: readonly string[];
}

interface ListState {
  /** Identifies the list: another list begins at its top. */
  readonly of: string;
  readonly isReady: boolean;
  /** Reads the next page; undefined when all of the list was read. */
  readonly loadMore: (() => void) | undefined;
}

/**
 * Finds a list as it was left when its user comes back to it: reads as many pages as it takes, scrolls there, and
 * focuses the same link. Returns a function to call whenever the list was scrolled or the focus moved in it.
 */
export function usePlace(scroller: RefObject<HTMLElement | null>, { of, isReady, loadMore }: ListState): () => void {
  const kept = useKept<Place>('place');
  const before = useRef<typeof kept>(undefined);
  /** The part of the place that has not been found again yet. */
  const missing = useRef<Partial<Place>>({});
  useLayoutEffect(() => {
    missing.current = (before.current === kept ? undefined : kept.was) ?? { top: 0 };
    before.current = kept;
  }, [kept, of]);
  const find = useRef<() => void>(() => undefined);
  find.current = () => {
    const { current } = scroller;
    const { top, focused } = missing.current;
    if (current === null || !isReady) return;
    if (top !== undefined) {
      const isThere = current.scrollHeight - current.clientHeight >= top;
      if (!isThere && loadMore !== undefined) return loadMore();
      current.scrollTo({ top });
      // A place below the end of the content is reached when the content has grown.
      if (!isThere) return;
      missing.current = focused ? { focused } : {};
    }
    const place = focused?.find((one) => !isRemoved(Number(one)));
    const link = place && current.querySelector<HTMLElement>(`[data-place="${CSS.escape(place)}"]`);
    if (!link) return;
    link.focus({ preventScroll: true });
    missing.current = {};
  };
  useLayoutEffect(() => find.current());
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => find.current());
    for (const child of scroller.current?.children ?? []) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller]);
  return () => {
    const { current } = scroller;
    if (current === null) return;
    if (missing.current.top !== undefined) {
      const isAtEnd = current.scrollTop + current.clientHeight >= current.scrollHeight - 1;
      if (!isReady || loadMore !== undefined || isAtEnd) return;
      missing.current = {};
    }
    const { activeElement } = document;
    const link = current.contains(activeElement) ? activeElement?.closest<HTMLElement>('[data-place]') : null;
    kept.keep({ top: current.scrollTop, focused: link ? placesFrom(link, current) : (missing.current.focused ?? []) });
  };
}

/** The places of a link and of those after and before it. */
function placesFrom(link: HTMLElement, list: HTMLElement): readonly string[] {
  const links = [...list.querySelectorAll<HTMLElement>('[data-place]')];
  const at = links.indexOf(link);
  return [link, links[at + 1], links[at - 1]].flatMap((one) => one?.dataset.place ?? []);
}
