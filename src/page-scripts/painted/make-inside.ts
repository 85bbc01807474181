import { attribute, documentOf, type PageElement, rootElementOf } from '../dom/dom.ts';
import type { Style } from '../dom/web.ts';
import type { Around, Inside } from './level.ts';
import { whyHides } from './why-hides.ts';

/** Elements with an empty line before and after them. */
const SPACED = /* @__PURE__ */ new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote section article header footer nav aside main figure form details fieldset'.split(
    ' ',
  ),
);
/** Elements that draw without a background. */
const PICTURE = /* @__PURE__ */ new Set('img video canvas iframe embed object svg'.split(' '));

/** Names why the text of an element is hidden, by its style or that of the elements around it. */
export function whyInside<Mark>(
  element: PageElement,
  name: string,
  style: Style,
  { isClosedDetails, summary, why, opacity }: Around<Mark>,
): string {
  const isClosed = isClosedDetails && !(name === 'summary' && summary.isNext);
  if (isClosedDetails && name === 'summary') summary.isNext = false;
  if (why !== '') return why;
  return isClosed ? 'details' : whyHides(element, style, opacity);
}

/** Returns what holds in an element. `mark`: its own one. */
export function insideOf<Mark>(
  element: PageElement,
  name: string,
  style: Style,
  { why, mark, around }: { why: string; mark: Mark | undefined; around: Around<Mark> },
): Inside<Mark> {
  const { display, position, overflowX, overflowY } = style;
  const isRoot = name === 'body' || element === rootElementOf(documentOf(element));
  // Hidden elements outside the flow of the page, such as words for screen readers, divide no line.
  const isAway = why !== '' && (/absolute|fixed/.test(position) || (around.why !== '' && around.gap === ''));
  const isClipping = !isRoot && (overflowX !== 'visible' || overflowY !== 'visible');
  const scrolls = isClipping && /auto|scroll/.test(overflowX + overflowY);
  return {
    element,
    boxed: display === 'contents' ? (around.boxed ?? element) : element,
    why,
    opacity: around.opacity * Number(style.opacity),
    isPre: style.whiteSpace.startsWith('pre') || style.whiteSpace.startsWith('break-spaces'),
    isClosedDetails: name === 'details' && attribute(element, 'open') === null,
    summary: { isNext: true },
    fixed: around.fixed || position === 'fixed',
    scroller: position === 'fixed' ? null : scrolls ? element : around.scroller,
    frame: around.frame,
    isGrid: display.includes('grid'),
    isRisky: around.isRisky || mayHideUnseen(style),
    clips: isClipping ? [...around.clips, element] : around.clips,
    mark: mark ?? around.mark,
    offset: around.offset,
    gap: isAway ? '' : gapAround(name, display),
  };
}

function mayHideUnseen({ clip, clipPath, maskImage, backfaceVisibility }: Style): boolean {
  return clipPath !== 'none' || maskImage !== 'none' || backfaceVisibility === 'hidden' || clip !== 'auto';
}

/** Whether an element draws something and may lie over or under elements that it does not contain. */
export function isFloating<Mark>(name: string, style: Style, { isGrid }: Around<Mark>): boolean {
  const isDrawn = style.backgroundColor !== 'rgba(0, 0, 0, 0)' || style.backgroundImage !== 'none' || PICTURE.has(name);
  return isDrawn && (isGrid || isMoved(style));
}

function isMoved(style: Style): boolean {
  if (style.position !== 'static' || style.float !== 'none' || style.transform !== 'none') return true;
  if (style.translate !== 'none' || style.rotate !== 'none' || style.scale !== 'none') return true;
  const { marginTop, marginBottom, marginLeft, marginRight } = style;
  return [marginTop, marginBottom, marginLeft, marginRight].some((margin) => margin.startsWith('-'));
}

/**
 * Whether an element is a part of a line. The parts of a formula are blocks to the browser, and in one line to people.
 */
export function isInLine(name: string, display: string): boolean {
  if (display.endsWith('math')) return name !== 'math' || !display.startsWith('block');
  return display.startsWith('inline') || display.startsWith('ruby') || display === 'contents';
}

function gapAround(name: string, display: string): string {
  if (isInLine(name, display)) return '';
  if (display === 'table-cell') return '\t';
  return SPACED.has(name) ? '\n\n' : '\n';
}
