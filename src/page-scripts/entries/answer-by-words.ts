import { folded } from '../../words/folded.ts';
import { ACCEPT, ACKNOWLEDGE, CHOICE, INFORMATION, NAMED, REJECT, SUBJECT } from '../banner/words.ts';
import { isVisible } from '../boxes/drawn-box.ts';
import { ancestors } from '../dom/composed-tree.ts';
import {
  assigned,
  attribute,
  bodyOf,
  click,
  closest,
  contains,
  drawnTextOf,
  isElement,
  isHtml,
  matches,
  nameOf,
  type PageElement,
  page,
  select,
  shadowOf,
} from '../dom/dom.ts';
import { treesIn } from '../dom/open-trees.ts';
import { web } from '../dom/web.ts';

/** Maximum number of buttons that are looked at, and of characters of a banner. */
const MAX_BUTTONS = 2_000;
const MAX_BANNER_CHARACTERS = 5_000;

const BUTTONS = 'button, [role="button"], input[type="button"], input[type="submit"], a';
/** Elements that may be a choice, also where no element of HTML says so. */
const CHOICES = `${BUTTONS}, input, select, summary, label, iframe, [onclick], [tabindex], [role], [class*="button" i], [class*="btn" i]`;
/** Symbols before and after the words of a button. */
const SYMBOLS = /[✓✔×✕→«»"'“”]+$|^[✓✔×✕→«»"“”]+/gu;
const OPAQUE = { opacityProperty: true };
const OVER_THE_PAGE = new Set(['fixed', 'sticky', 'absolute']);

/**
 * Finds the first box that is about cookies and lies over the page, or is named after cookies, also in open shadow
 * trees. Clicks its button that accepts or refuses, or the one that acknowledges. A refusal acknowledges only a box
 * that has no other button.
 */
export function answerByWords(answer: 'accept' | 'reject'): 'accepted' | 'rejected' | 'acknowledged' | 'none' {
  const isAccepting = answer === 'accept';
  const found = treesIn(page).flatMap((tree) => select(tree, BUTTONS));
  const buttons = found.slice(0, MAX_BUTTONS).filter(isHtml);
  if (clickFirst(buttons, isAccepting ? ACCEPT : REJECT, isInBanner)) return isAccepting ? 'accepted' : 'rejected';
  return clickFirst(buttons, ACKNOWLEDGE, isAccepting ? isInBanner : isOnlyChoice) ? 'acknowledged' : 'none';
}

function clickFirst(
  buttons: readonly PageElement[],
  words: RegExp,
  isRight: (button: PageElement) => boolean,
): boolean {
  const button = buttons.find(
    (each) => words.test(wordsOf(each)) && !matches(each, ':disabled') && isVisible(each, OPAQUE) && isRight(each),
  );
  if (button !== undefined) click(button);
  return button !== undefined;
}

function wordsOf(button: PageElement): string {
  const text = nameOf(button) === 'input' ? (attribute(button, 'value') ?? '') : shownTextOf(button);
  const withoutSymbols = (words: string) => folded(words).replace(SYMBOLS, '').trim();
  return withoutSymbols(text) || withoutSymbols(attribute(button, 'aria-label') ?? '');
}

function isInBanner(button: PageElement): boolean {
  return bannersAround(button).length > 0;
}

/** Whether no box around the button offers anything else, but for links that explain it. */
function isOnlyChoice(button: PageElement): boolean {
  const outermost = bannersAround(button).at(-1);
  if (outermost === undefined) return false;
  const others = elementsIn(outermost).filter((each) => !contains(each, button) && !contains(button, each));
  return others.every((each) => !mayBeChoice(each) || !isVisible(each, OPAQUE) || isExplained(each));
}

/** Returns the elements in a box, with those of the document around it that its slots show. */
function elementsIn(box: PageElement): readonly PageElement[] {
  const inner = select(box, '*');
  const slotted = inner.filter((each) => nameOf(each) === 'slot').flatMap((slot) => assigned(slot, { flatten: true }));
  return [...inner, ...slotted.filter(isElement).flatMap((each) => [each, ...select(each, '*')])];
}

/** Whether a click on an element may do something, as its kind or the pointer over it says. */
function mayBeChoice(element: PageElement): boolean {
  if (matches(element, CHOICES) || nameOf(element).includes('-') || shadowOf(element) !== null) return true;
  return web.getComputedStyle(element).cursor === 'pointer';
}

/** Whether an element is a link that explains the banner, or in one. */
function isExplained(element: PageElement): boolean {
  const link = closest(element, 'a');
  if (link === null || !/^(?!#|javascript:)./i.test(attribute(link, 'href')?.trim() ?? '')) return false;
  const words = wordsOf(link);
  return INFORMATION.test(words) && !CHOICE.test(words);
}

/** Returns the boxes around a button that lie over the page and are about cookies, the innermost first. */
function bannersAround(button: PageElement): readonly PageElement[] {
  const body = bodyOf(page);
  const banners: PageElement[] = [];
  for (const box of ancestors(button).slice(1)) {
    if (box === body) break;
    if (!isOver(box)) continue;
    const text = shownTextOf(box);
    if (text.length <= MAX_BANNER_CHARACTERS && SUBJECT.test(folded(text))) banners.push(box);
  }
  return banners;
}

function isOver(box: PageElement): boolean {
  return (
    OVER_THE_PAGE.has(web.getComputedStyle(box).position) ||
    nameOf(box) === 'dialog' ||
    /dialog/.test(attribute(box, 'role') ?? '') ||
    NAMED.test(`${attribute(box, 'id') ?? ''} ${attribute(box, 'class') ?? ''}`)
  );
}

/** The text that an element shows; none for elements of SVG, in which a button can be. */
function shownTextOf(element: PageElement): string {
  return isHtml(element) ? drawnTextOf(element).trim() : '';
}
