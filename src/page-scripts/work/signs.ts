import { classOf, type PageElement, page, select } from '../dom/dom.ts';
import { holds, isOpaque, isShown, isWithin, ownText } from './shown.ts';

/** Maximum length of the shorter side of a spinner or of a part of a skeleton, in CSS pixels. */
export const MAX_SIGN_SIDE = 120;
/** Maximum number of characters of a spinner's own text, such as "Loading results...". */
const MAX_SIGN_CHARACTERS = 40;

/** Names that style sheets give to spinners and skeletons. */
const SIGN_CLASS =
  /skeleton|spinner|preloader|shimmer|circular-?progress|placeholder-(?:glow|wave)|(?:^|[\s_-])(?:load(?:er|ing)|lds)(?:[\s_-]|$)/i;
/** The parts of these names that a selector can find; all are lower case but for their first letter. */
const SIGN_SELECTOR = /* @__PURE__ */ [
  'keleton',
  'pinner',
  'oader',
  'oading',
  'himmer',
  'rogress',
  'laceholder-',
  'lds-',
]
  .map((part) => `[class*="${part}"]`)
  .join(',');
const BUSY_SELECTOR = '[aria-busy="true" i], [role="progressbar" i]:not([aria-valuenow]), progress:not([value])';

/** Whether the window shows a spinner or a skeleton. */
export function showsSign(): boolean {
  return (
    select(page, BUSY_SELECTOR).some((each) => isShown(each)) ||
    select(page, SIGN_SELECTOR).some((element) => SIGN_CLASS.test(classOf(element)) && isSign(element))
  );
}

function isSign(element: PageElement): boolean {
  return (
    isShown(element) &&
    !isUndrawn(element) &&
    ownText(element).length <= MAX_SIGN_CHARACTERS &&
    !isWithin(element, 'a, button, label, input') &&
    !holds(element, 'a, img, video, canvas, iframe, input, select, textarea, button')
  );
}

/** Whether an element has only drawings that are hidden, which are shown while something loads. */
export function isUndrawn(element: PageElement): boolean {
  const drawings = select(element, 'svg');
  return drawings.length > 0 && ownText(element) === '' && !drawings.some(isOpaque);
}
