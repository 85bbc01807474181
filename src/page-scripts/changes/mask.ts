import { around, cutTo } from '../boxes.ts';
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
import { kept } from '../kept.ts';
import { setStyle } from '../set-style.ts';
import { askVisible, type VisiblePart } from '../visible-parts.ts';
import { web } from '../web.ts';

const COLOUR = '#ff00ff';

/** Maximum number of times that the browser is asked what is visible: a document may draw no frame. */
const MAX_QUESTIONS = 100;

const questions = () => kept('masks', () => ({ asked: 0, answers: null as (() => VisiblePart[])[] | null }));

/**
 * Draws boxes over what is visible of the elements, in the top layer, above the page's own top layer. They use the
 * page's coordinates, so that they are right in a screenshot that is taller than the window. Returns false until the
 * browser has told what is visible: call it again then.
 */
export function mask(elements: readonly PageElement[]): boolean {
  const question = questions();
  question.answers ??= elements.map((element) => askVisible(element, false));
  question.asked += 1;
  const masked = question.answers.map((answer) => answer());
  const isKnown = masked.flat().every(({ visible }) => visible !== null);
  if (!isKnown && question.asked < MAX_QUESTIONS) return false;
  Object.assign(question, { asked: 0, answers: null });
  cover(masked.map(placeOf).filter((place) => place !== null));
  return true;
}

function cover(places: readonly Readonly<Record<string, string>>[]): void {
  const root = rootElementOf(page);
  if (root === null) return;
  const layer = createHtml('div');
  const boxes = attachShadow(layer, { mode: 'closed' });
  for (const place of places) {
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
function placeOf(parts: readonly VisiblePart[]): Readonly<Record<string, string>> | null {
  const box = around(parts.flatMap(({ box, visible }) => (visible === null ? box : (cutTo(box, visible) ?? []))));
  if (box === null) return null;
  const { x, y, width, height } = box;
  const [left, top] = [Math.floor(x + web.scrollX), Math.floor(y + web.scrollY)];
  const [right, bottom] = [Math.ceil(x + web.scrollX + width), Math.ceil(y + web.scrollY + height)];
  return { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` };
}
