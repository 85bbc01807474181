import type { CaptureRequest } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import { retryUntilAnswered } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { elementsOf, notASelector } from '../selectors.ts';
import { CHAT_WIDGETS, FIXED, POPUPS, positioned } from './overlays.ts';
import { SET_STYLE } from './set-style.ts';

const MASK_COLOUR = '#ff00ff';

/** Returns whether the request hides, masks or leaves out elements. */
export function changesElements({ hide, collapse, mask, hideFixed, hideChats, hidePopups }: CaptureRequest): boolean {
  return (hide ?? collapse ?? mask) !== undefined || hideFixed || hideChats || hidePopups;
}

/** JavaScript of a function that finds elements, and the selector that the request names them by. */
interface Finder {
  readonly find: string;
  readonly selector?: string;
}

const bySelector = (selector: string): Finder => ({ find: `() => ${elementsOf(selector)}`, selector });

/**
 * Hides and masks the requested elements in the current page. Call it after the HTML snapshot has been read, right
 * before the screenshot. Throws `selector_not_found` for an invalid selector; ignores a selector without a match.
 */
export async function hideAndMask(
  page: IsolatedPage,
  { hide = [], hideFixed, hideChats, hidePopups, mask = [] }: CaptureRequest,
  deadline: Deadline,
): Promise<void> {
  const hidden = [
    ...hide.map(bySelector),
    ...(hideChats ? [bySelector(CHAT_WIDGETS)] : []),
    ...(hidePopups ? [{ find: POPUPS }] : []),
    ...(hideFixed ? [{ find: FIXED }] : []),
  ];
  await cover(page, hidden, HIDE, deadline);
  if (hideFixed) await cover(page, [{ find: positioned('sticky') }], UNSTICK, deadline);
  await cover(page, mask.map(bySelector), MASK, deadline);
}

/** Leaves the requested elements out of the layout. Call it before the page is measured; otherwise like `hideAndMask`. */
export async function collapse(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<void> {
  await cover(page, (request.collapse ?? []).map(bySelector), COLLAPSE, deadline);
}

async function cover(page: IsolatedPage, finders: readonly Finder[], cover: string, deadline: Deadline): Promise<void> {
  if (finders.length === 0) return;
  // From here on the page's scripts are off, so it can neither notice nor undo anything.
  page.session.post('Emulation.setScriptExecutionDisabled', { value: true });
  const functions = finders.map(({ find }) => find).join(',\n');
  const wrong = await retryUntilAnswered(
    page,
    deadline,
    'hide and mask',
    `(${COVER})([${functions}], ${cover}, ${SET_STYLE})`,
  );
  if (typeof wrong === 'number') throw notASelector(finders[wrong]?.selector ?? '');
}

/** Runs in the page. Returns `'covered'`, or the index of the first invalid selector. */
const COVER = `(finders, cover, setStyle) => {
  const matching = [];
  for (const [at, find] of finders.entries()) {
    try {
      matching.push(find());
    } catch {
      return at;
    }
  }
  if (matching.flat().length > 0) cover([...new Set(matching.flat())], setStyle);
  return 'covered';
}`;

/** Takes elements out of the layout. */
const COLLAPSE = `(elements, setStyle) => {
  for (const element of elements) setStyle(element, { display: 'none' });
}`;

/** Shows sticky elements where they would be on a page that is not scrolled. */
export const UNSTICK = `(elements, setStyle) => {
  for (const element of elements) setStyle(element, { position: 'relative', inset: 'auto', transition: 'none' });
}`;

/** Hides elements with all their content, even content that sets its own visibility, and the backdrop of a dialog. */
export const HIDE = `(elements, setStyle) => {
  for (const element of elements) {
    setStyle(element, { opacity: '0', visibility: 'hidden', transition: 'none', 'backdrop-filter': 'none' });
  }
}`;

/**
 * Draws boxes over the elements in the top layer, above the page's own top layer. They use the page's coordinates, so
 * that they are right in a screenshot that is taller than the window.
 */
const MASK = `(elements, setStyle) => {
  const create = () => Document.prototype.createElementNS.call(document, 'http://www.w3.org/1999/xhtml', 'div');
  const layer = create();
  const boxes = layer.attachShadow({ mode: 'closed' });
  for (const element of elements) {
    const { x, y, width, height } = Element.prototype.getBoundingClientRect.call(element);
    if (width === 0 || height === 0) continue;
    const box = create();
    // Rounded outward to whole pixels: half a covered pixel would shine through.
    const [left, top] = [Math.floor(x + scrollX), Math.floor(y + scrollY)];
    const [right, bottom] = [Math.ceil(x + scrollX + width), Math.ceil(y + scrollY + height)];
    const place = { left: left + 'px', top: top + 'px', width: right - left + 'px', height: bottom - top + 'px' };
    setStyle(box, { position: 'absolute', background: '${MASK_COLOUR}', 'forced-color-adjust': 'none', ...place });
    boxes.append(box);
  }
  setStyle(layer, {
    all: 'initial', display: 'block', position: 'absolute', inset: '0 auto auto 0', margin: '0', padding: '0',
    border: '0', width: '0', height: '0', overflow: 'visible', 'z-index': '2147483647',
  });
  layer.popover = 'manual';
  Reflect.get(Document.prototype, 'documentElement', document).append(layer);
  layer.showPopover();
}`;
