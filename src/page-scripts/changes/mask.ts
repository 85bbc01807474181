import { around, cutTo, type Rectangle } from '../boxes/boxes.ts';
import { drawnParts } from '../boxes/drawn-box.ts';
import { type Answer, askVisible } from '../boxes/visible-parts.ts';
import {
  appendChild,
  attachShadow,
  createHtml,
  type PageElement,
  page,
  rootElementOf,
  setPopover,
  showPopover,
} from '../dom/dom.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';

const COLOUR = '#ff00ff';

const asked = () => kept<{ answer: Answer | null }>('masks', () => ({ answer: null }));

/** Asks what is visible of the elements, for `finishMask` to cover it. Returns false: the mask is not drawn yet. */
export function mask(elements: readonly PageElement[]): boolean {
  asked().answer = askVisible(elements, false);
  return false;
}

/** Covers the elements with all that is cut off of them, which a window of another height may show. */
export function maskWhole(elements: readonly PageElement[]): boolean {
  cover(elements.map((element) => drawnParts(element).map(({ box }) => box)));
  return true;
}

/**
 * Covers what is visible of the elements that `mask` was called with. Returns false while the browser has not yet
 * reported what is visible; call it again after a frame. Undefined in a document in which `mask` was not called.
 */
export function finishMask(): boolean | undefined {
  const { answer } = asked();
  if (answer === null) return undefined;
  const masked = answer();
  if (masked === null) return false;
  asked().answer = null;
  cover(masked.map((parts) => parts.flatMap(({ box, visible }) => cutTo(box, visible) ?? [])));
  return true;
}

/**
 * Draws a box over the parts of each element, in the top layer, above the page's own top layer. The boxes use the
 * page's coordinates, so that they are right in a screenshot that is taller than the window.
 */
function cover(masked: readonly (readonly Rectangle[])[]): void {
  const root = rootElementOf(page);
  if (root === null) return;
  const layer = createHtml('div');
  const boxes = attachShadow(layer, { mode: 'closed' });
  for (const place of masked.map(placeOf).filter((each) => each !== null)) {
    const box = createHtml('div');
    setStyle(box, { position: 'absolute', background: COLOUR, 'forced-color-adjust': 'none', ...place });
    appendChild(boxes, box);
  }
  setStyle(layer, {
    all: 'initial',
    display: 'block',
    position: 'absolute',
    inset: '0 auto auto 0',
    margin: '0',
    padding: '0',
    border: '0',
    width: '0',
    height: '0',
    overflow: 'visible',
    'z-index': '2147483647',
  });
  setPopover(layer, 'manual');
  appendChild(root, layer);
  showPopover(layer);
}

/** The box of an element on the page, rounded outward to whole pixels: half a covered pixel would shine through. */
function placeOf(parts: readonly Rectangle[]): Readonly<Record<string, string>> | null {
  const box = around(parts);
  if (box === null) return null;
  const { x, y, width, height } = box;
  const [left, top] = [Math.floor(x + web.scrollX), Math.floor(y + web.scrollY)];
  const [right, bottom] = [Math.ceil(x + web.scrollX + width), Math.ceil(y + web.scrollY + height)];
  return { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` };
}
