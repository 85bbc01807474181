import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useState } from 'preact/hooks';

/** Minimum width of a card, and the space between cards, in rem. */
const MIN_CARD = 15.1;
const MIN_CARD_NARROW = 10.7;
const GAP = 1.15;
const GAP_NARROW = 0.7;
/** Width below which cards are narrow, in CSS pixels. */
const NARROW = 520;
/** Height of a card below its image, in rem. */
const CAPTION = 5.5;
/** Height of a row of the table, and the space between rows, in rem. */
const TABLE_ROW = 3.2;
const TABLE_GAP = 0.3;
const SCREENSHOT_RATIO = 9 / 16;
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

/**
 * Returns which of `count` cards are in the document: those that are visible, and a few rows around them. A table has
 * one card in each row.
 */
export function useGrid(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  isTable: boolean,
): Grid & { readonly update: () => void } {
  const [{ width, height, top, rem }, setPort] = useState({ width: 0, height: 0, top: 0, rem: 14 });
  const update = useCallback(() => {
    const { current } = scroller;
    if (current === null) return;
    const style = getComputedStyle(current);
    const padding = Number.parseFloat(style.paddingLeft) + Number.parseFloat(style.paddingRight);
    const next = {
      width: current.clientWidth - padding,
      height: current.clientHeight,
      top: current.scrollTop,
      rem: Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
    };
    setPort((port) => (JSON.stringify(port) === JSON.stringify(next) ? port : next));
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
  const gap = Math.round((isTable ? TABLE_GAP : isNarrow ? GAP_NARROW : GAP) * rem);
  const minCard = (isNarrow ? MIN_CARD_NARROW : MIN_CARD) * rem;
  const columns = isTable ? 1 : Math.max(1, Math.floor((width + gap) / (minCard + gap)));
  const cardWidth = (width - gap * (columns - 1)) / columns;
  const rowHeight = Math.round(isTable ? TABLE_ROW * rem : cardWidth * SCREENSHOT_RATIO + CAPTION * rem) + gap;
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
