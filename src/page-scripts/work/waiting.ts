import { inWindow } from '../boxes/in-window.ts';
import {
  type Box,
  bodyOf,
  boxOf,
  contains,
  dataOf,
  elementAt,
  matches,
  type PageElement,
  type PageText,
  page,
  parentElementOf,
  rangeIn,
  scriptsOf,
  select,
  textsIn,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { holds, isOpaque, isShown, isWithin, ownText } from './shown.ts';

/**
 * Maximum number of text nodes that are read for "Loading...", and of pieces of content that are searched for a visible
 * one.
 */
const MAX_TEXTS = 5_000;
const MAX_HIDDEN_PIECES = 50;
/** Text nodes longer than this are no promise, and are not read once something is seen. */
const MAX_READ_CHARACTERS = 200;
const MAX_PROMISE_CHARACTERS = 100;

const CONTENT = 'img, svg, canvas, video, iframe, object, embed, input, select, textarea, button';

/** A text that is only this is a promise of more. A sentence must end with an ellipsis, so that prose is none. */
const WAIT_WORD =
  '(?:loading|redirecting|please wait|just a moment|one moment|chargement|patientez|wird geladen|l(?:ä|ae)dt|weiterleitung|cargando|redirigiendo|caricamento|carregando|laden|загрузка|読み込み中|加载中|載入中|로딩 중)';
const WAIT_TEXT = /* @__PURE__ */ new RegExp(
  `^(?:${WAIT_WORD}[.…!\\s]*|(?:you (?:are|will) be(?:ing)? )?(?:${WAIT_WORD}|redirected)[^.…]{0,50}(?:\\.\\.\\.|…))$`,
  'i',
);

/** Whether the window shows "Loading...", or nothing although the page has scripts. */
export function isWaiting(): boolean {
  const { waits, shows, hidden } = readTexts();
  if (waits) return true;
  // A page without scripts shows all that it will ever show.
  if (shows || scriptsOf(page).length === 0) return false;
  if (hidden > 0) return true;
  // Content in shadow trees and background images are seen only by their paint, boxes of a colour only by their style.
  if (web.performance.getEntriesByName('first-contentful-paint').length > 0) return false;
  const boxes = select(page, 'body *').slice(0, MAX_HIDDEN_PIECES);
  return !boxes.some((element) => !fillsWindow(boxOf(element)) && isShown(element) && !isTransparent(element));
}

/** Content of the window that is covered is `hidden`; `shows`: some is not. */
interface Content {
  shows: boolean;
  hidden: number;
}

/** Reads the texts of the page: whether one is "Loading...", and whether there is any content that is not covered. */
function readTexts(): Content & { readonly waits: boolean } {
  const root = bodyOf(page);
  const content: Content = { shows: root === null, hidden: 0 };
  if (root === null) return { ...content, waits: false };
  const boxOfText = textMeasure();
  const walker = textsIn(root);
  for (let count = 0; count < MAX_TEXTS; count += 1) {
    const node = walker.nextNode();
    if (node === null) break;
    const data = dataOf(node);
    if (data.length > MAX_READ_CHARACTERS && content.shows) continue;
    const text = data.trim();
    if (text === '') continue;
    const waits = text.length <= MAX_PROMISE_CHARACTERS && WAIT_TEXT.test(text);
    if (content.shows && !waits) continue;
    const element = parentElementOf(node);
    if (element === null || isWithin(element, 'script, style, noscript, template')) continue;
    if (!content.shows) notice(content, boxOfText(node), element);
    if (!waits) continue;
    // A heading or an item of a list may well be named "Loading".
    const isName =
      isWithin(element, 'a, button, nav, code, pre, option') ||
      (!/[.…]$/.test(text) && isWithin(element, 'li, h1, h2, h3, h4, h5, h6'));
    if (!isName && isShown(element, boxOfText(node))) return { ...content, waits: true };
  }
  if (!content.shows) for (const element of select(page, CONTENT)) notice(content, boxOf(element), element);
  return { ...content, waits: false };
}

function notice(content: Content, box: Box, element: PageElement): void {
  if (content.shows || content.hidden >= MAX_HIDDEN_PIECES || !isShown(element, box)) return;
  if (isCovered(box, element)) content.hidden += 1;
  else content.shows = true;
}

/** Whether an element without content of its own lies over this piece of content and all of the window. */
function isCovered(box: Box, element: PageElement): boolean {
  const { left, top, width, height } = inWindow(box);
  const hit = elementAt(page, left + width / 2, top + height / 2);
  if (hit === null || contains(hit, element) || contains(element, hit)) return false;
  if (!fillsWindow(boxOf(hit)) || ownText(hit) !== '' || holds(hit, CONTENT) || matches(hit, CONTENT)) return false;
  return isOpaque(hit) && !isTransparent(hit);
}

const fillsWindow = ({ left, top, right, bottom }: Box): boolean =>
  left <= 0 && top <= 0 && right >= web.innerWidth && bottom >= web.innerHeight;

const isTransparent = (element: PageElement): boolean =>
  /^rgba\(.*, 0(?:\.[0-4]\d*)?\)$/.test(web.getComputedStyle(element).backgroundColor);

function textMeasure(): (text: PageText) => Box {
  const range = rangeIn(page);
  return (text) => {
    range.selectNodeContents(text);
    return range.getBoundingClientRect();
  };
}
