import { backdrops } from './backdrops.ts';
import { type PageElement, page, select } from './dom.ts';
import { kept } from './kept.ts';
import { setStyle } from './set-style.ts';
import { web } from './web.ts';

/** Notes heights of elements, and positions of fixed ones, for `keepHeights`; not of backdrops, which follow the window. */
export function noteHeights(): void {
  const heights = noted();
  heights.clear();
  for (const element of select(page, 'body, body *')) {
    if (backdrops().has(element)) continue;
    const { height, minHeight, position, top } = web.getComputedStyle(element);
    const place = position === 'fixed' ? { top, bottom: 'auto' } : {};
    heights.set(element, { height, 'min-height': minHeight, ...place });
  }
}

/**
 * In a window of another height, gives what follows the height of the window, as `100vh` does, the height that was
 * noted, and fixed elements their position.
 */
export function keepHeights(): void {
  const follows = [...noted()].filter(([element, before]) => {
    const { height, minHeight, top } = web.getComputedStyle(element);
    const isMoved = before.top !== undefined && top !== before.top;
    return height !== before.height || minHeight !== before['min-height'] || isMoved;
  });
  for (const [element, before] of follows) setStyle(element, before);
}

type Heights = {
  readonly height: string;
  readonly 'min-height': string;
  readonly top?: string;
  readonly bottom?: string;
};

const noted = () => kept('heights', () => new Map<PageElement, Heights>());
