import { type Box, boxOf, type PageElement } from '../dom/dom.ts';
import { eachElement } from '../dom/each-element.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';

/**
 * Takes the perspective from a scroller that is at its top, and puts layers of other depths where they are when it is
 * scrolled to them: they are projected by where they lie in its window, which is about to become as high as its
 * content.
 */
export function flatten(scroller: PageElement, scrollHeight: number): void {
  const style = web.getComputedStyle(scroller);
  const perspective = Number.parseFloat(style.perspective);
  if (Number.isNaN(perspective)) return;
  const window = boxOf(scroller);
  const [originX = 0, originY = 0] = style.perspectiveOrigin.split(' ').map(Number.parseFloat);
  const origin = { x: window.left + originX, y: window.top + originY };
  const layers: { element: PageElement; transform: string }[] = [];
  eachElement(scroller, (element) => {
    const { transform } = web.getComputedStyle(element);
    const depth = depthOf(transform);
    const shrunk = perspective / (perspective - depth);
    if (depth === 0 || !Number.isFinite(shrunk) || shrunk <= 0) return;
    const box = boxOf(element);
    const shown = middleOf(box);
    const x = origin.x + (shown.x - origin.x) / shrunk;
    const y = origin.y + (shown.y - origin.y) / shrunk;
    const scrolled = Math.min(Math.max(0, y - origin.y), scrollHeight - window.height);
    const right = shown.x - x;
    const down = scrolled + origin.y + (y - scrolled - origin.y) * shrunk - y;
    layers.push({ element, transform: `translate(${right}px, ${down}px) scale(${shrunk}) ${transform}` });
  });
  setStyle(scroller, { perspective: 'none' });
  for (const { element, transform } of layers) setStyle(element, { transform, transition: 'none' });
}

/** The translation along the z axis in a computed transform. */
function depthOf(transform: string): number {
  const values = /^matrix3d\((.*)\)$/.exec(transform)?.[1]?.split(',') ?? [];
  return Number(values[14] ?? 0);
}

const middleOf = ({ left, right, top, bottom }: Box) => ({ x: (left + right) / 2, y: (top + bottom) / 2 });
