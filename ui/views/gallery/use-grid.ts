import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useState } from 'preact/hooks';

/** Minimum width of a card, and the space between cards, in CSS pixels. */
const MIN_CARD = 212;
const MIN_CARD_NARROW = 150;
const NARROW = 520;
const GAP = 16;
const GAP_NARROW = 10;
/** Height of a card below its image, in CSS pixels. */
const CAPTION = 58;
const PICTURE_RATIO = 9 / 16;
/** Number of rows rendered above and below the visible ones. */
const SPARE_ROWS = 2;

export interface Grid {
  readonly columns: number;
  readonly cardWidth: number;
  readonly rowHeight: number;
  readonly gap: number;
  /** Height of all rows together. */
  readonly height: number;
  /** Index of the first card in the document, and the index after the last one. */
  readonly start: number;
  readonly end: number;
}

/** Returns which of `count` cards are in the document: those that are visible, and a few rows around them. */
export function useGrid(
  scroller: RefObject<HTMLElement | null>,
  count: number,
): Grid & { readonly update: () => void } {
  const [{ width, height, top }, setPort] = useState({ width: 0, height: 0, top: 0 });
  const update = useCallback(() => {
    const { current } = scroller;
    if (current === null) return;
    const style = getComputedStyle(current);
    const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight);
    const next = { width: current.clientWidth - padding, height: current.clientHeight, top: current.scrollTop };
    setPort((port) =>
      port.width === next.width && port.height === next.height && port.top === next.top ? port : next,
    );
  }, [scroller]);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return;
    const observer = new ResizeObserver(update);
    observer.observe(current);
    update();
    return () => observer.disconnect();
  }, [scroller, update]);

  const isNarrow = width < NARROW;
  const gap = isNarrow ? GAP_NARROW : GAP;
  const columns = Math.max(1, Math.floor((width + gap) / ((isNarrow ? MIN_CARD_NARROW : MIN_CARD) + gap)));
  const cardWidth = (width - gap * (columns - 1)) / columns;
  const rowHeight = Math.round(cardWidth * PICTURE_RATIO) + CAPTION + gap;
  const rows = Math.ceil(count / columns);
  const firstRow = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
  const lastRow = Math.ceil((top + height) / rowHeight) + SPARE_ROWS;
  return {
    columns,
    cardWidth,
    rowHeight,
    gap,
    height: Math.max(0, rows * rowHeight - gap),
    start: width === 0 ? 0 : firstRow * columns,
    end: width === 0 ? 0 : Math.min(count, lastRow * columns),
    update,
  };
}
