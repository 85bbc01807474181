import {
  appendChild,
  attachShadow,
  createHtml,
  type PageElement,
  page,
  rootElementOf,
  setPopover,
  showPopover,
} from '../dom.ts';
import { drawnBox } from '../drawn-box.ts';
import { setStyle } from '../set-style.ts';
import { web } from '../web.ts';

const COLOUR = '#ff00ff';

/**
 * Draws boxes over the elements in the top layer, above the page's own top layer. They use the page's coordinates, so
 * that they are right in a screenshot that is taller than the window.
 */
export function mask(elements: readonly PageElement[]): void {
  const root = rootElementOf(page);
  if (root === null) return;
  const layer = createHtml('div');
  const boxes = attachShadow(layer, { mode: 'closed' });
  for (const element of elements) {
    const place = placeOf(element);
    if (place === null) continue;
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
function placeOf(element: PageElement): Readonly<Record<string, string>> | null {
  const box = drawnBox(element);
  if (box === null) return null;
  const { x, y, width, height } = box;
  const [left, top] = [Math.floor(x + web.scrollX), Math.floor(y + web.scrollY)];
  const [right, bottom] = [Math.ceil(x + web.scrollX + width), Math.ceil(y + web.scrollY + height)];
  return { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` };
}
