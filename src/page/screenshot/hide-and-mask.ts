import type { Deadline } from '../../capture/deadline.ts';
import { letGo, untilAnswered } from '../ask-page.ts';
import { drawnElsewhere } from '../drawn.ts';
import { type Place, placesOf } from '../find/places.ts';
import { prepare } from '../find/prepared-frames.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import type { EvaluatedFrame } from '../page-session.ts';
import { CHAT_WIDGETS, FIXED, POPUPS, positioned } from './overlays.ts';
import { SET_STYLE } from './set-style.ts';
import type { ShotPlan } from './shot-plan.ts';

const MASK_COLOUR = '#ff00ff';

/** Elements to change: those that a selector matches, or those that a function in the page returns. */
type Wanted = { readonly selector: string } | { readonly find: string };

const bySelector = (selector: string): Wanted => ({ selector });

/**
 * Hides and masks the requested elements in the current page and its frames. Call it after the HTML snapshot has been
 * read, right before the screenshot. Ignores a selector without a match. Resolves when frames of other processes have
 * drawn, changed or not.
 */
export async function hideAndMask(
  page: IsolatedPage,
  { hide = [], hideFixed, hideChats, hidePopups, mask = [] }: ShotPlan['hides'],
  deadline: Deadline,
): Promise<void> {
  const hidden = [
    ...hide.map(bySelector),
    ...(hideChats ? [bySelector(CHAT_WIDGETS)] : []),
    ...(hidePopups ? [{ find: POPUPS }] : []),
    ...(hideFixed ? [{ find: FIXED }] : []),
  ];
  await change(page, hidden, HIDE, deadline);
  if (hideFixed) await change(page, [{ find: positioned('sticky') }], UNSTICK, deadline);
  await change(page, mask.map(bySelector), MASK, deadline);
  await drawnElsewhere(page, deadline);
}

/** Leaves the requested elements out of the layout. Call it before the page is measured. Otherwise as `hideAndMask`. */
export async function collapse(
  page: IsolatedPage,
  { collapse: wanted = [] }: ShotPlan['hides'],
  deadline: Deadline,
): Promise<void> {
  await change(page, wanted.map(bySelector), COLLAPSE, deadline);
}

/** Changes elements in every document that has some. A document that was replaced meanwhile is changed again. */
async function change(page: IsolatedPage, wanted: readonly Wanted[], how: string, deadline: Deadline): Promise<void> {
  if (wanted.length === 0) return;
  await untilAnswered(deadline, 'hide and mask', async () => {
    const documents = await documentsOf(page, wanted, deadline);
    if (documents === undefined) return undefined;
    const changing = documents.map(({ place, finders }) => {
      // From here on the document's scripts are off, so they can neither notice nor undo anything.
      place.session.post('Emulation.setScriptExecutionDisabled', { value: true });
      return letGo(
        place,
        deadline,
        prepare(page, place, `(${CHANGE})([${finders.join(',\n')}], ${how}, ${SET_STYLE})`),
      );
    });
    return (await Promise.all(changing)).includes(undefined) ? undefined : true;
  });
}

/** Resolves with the documents that have elements to change, each with the functions that find them there. */
async function documentsOf(page: IsolatedPage, wanted: readonly Wanted[], deadline: Deadline) {
  const documents = new Map<string, { readonly place: EvaluatedFrame; readonly finders: string[] }>();
  const add = (place: EvaluatedFrame, find: string) => {
    const known = documents.get(place.frame.id) ?? { place, finders: [] };
    documents.set(place.frame.id, known);
    known.finders.push(find);
  };
  for (const each of wanted) {
    const places: readonly Place[] | undefined =
      'selector' in each ? await placesOf(page, each.selector, deadline) : [];
    if (places === undefined) return undefined;
    if ('find' in each) add(page, each.find);
    for (const place of places) add(place, place.find);
  }
  return [...documents.values()];
}

/** Runs in the page. */
const CHANGE = `(finders, change, setStyle) => {
  const matching = new Set(finders.flatMap((find) => find()));
  if (matching.size > 0) change([...matching], setStyle);
  return true;
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
