import { z } from 'zod';
import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { askPage, letGo } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { END_TRANSITIONS } from './end-transitions.ts';
import { UNFOLD } from './main-scroller.ts';
import { KEEP_LOOKS } from './reveal-content.ts';
import { SET_STYLE } from './set-style.ts';

/** Measurements of a page, in CSS pixels from the upper left corner of its content. */
export interface MeasuredPage {
  /** Everything that a reader can scroll to. */
  readonly whole: Rectangle;
  /** The part that the window shows. In a right-to-left page it starts at the right end. */
  readonly window: Rectangle;
  /** Number of elements in the document, when it is larger than the window. */
  readonly elements: number;
}

/**
 * Measures a page. Scrolls a page that is larger than the window to its top, and renders everything in it: also what
 * its main scroller hides, and what the page hides again when it is scrolled back.
 */
export async function measurePage(
  page: IsolatedPage,
  { width, height }: Pick<Rectangle, 'width' | 'height'>,
  deadline: Deadline,
): Promise<MeasuredPage> {
  let first = await measure(page, deadline);
  if (first.size.height <= height && (await unfolds(page, deadline))) first = await measure(page, deadline);
  if (first.size.width <= width && first.size.height <= height) {
    const whole = { x: 0, y: 0, ...first.size };
    return { whole, window: whole, elements: 0 };
  }
  const answer = await askPage(page, deadline, 'measure the page', `(${REACH})(${SET_STYLE})`);
  const { scrollsSideways, elements } = reached.parse(answer ?? {});
  const { size, left, clientWidth } = await measure(page, deadline);
  const whole = !scrollsSideways
    ? { x: left, y: 0, width: Math.min(size.width - left, clientWidth), height: size.height }
    : { x: 0, y: 0, ...size };
  return { whole, window: { x: left, y: 0, width, height }, elements };
}

/** Shows what a main scroller hides, and what the page hides again when it is scrolled back, before it is printed. */
export async function showEverything(page: IsolatedPage, deadline: Deadline): Promise<void> {
  await unfolds(page, deadline);
  await askPage(page, deadline, 'measure the page', `(${KEEP_LOOKS})(${SET_STYLE})`);
}

/** Returns whether the page had a main scroller, which is now as high as its content. */
async function unfolds(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  return (await askPage(page, deadline, 'measure the page', `(${UNFOLD})(${SET_STYLE})`)) === true;
}

const reached = z.object({ scrollsSideways: z.boolean().default(true), elements: z.number().default(0) });

async function measure(page: IsolatedPage, deadline: Deadline) {
  const measuring = letGo(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const { cssContentSize, cssLayoutViewport } = await deadline.step('measure the page', measuring);
  return {
    size: {
      width: Math.max(1, Math.ceil(cssContentSize.width)),
      height: Math.max(1, Math.ceil(cssContentSize.height)),
    },
    left: cssLayoutViewport.pageX,
    clientWidth: cssLayoutViewport.clientWidth,
  };
}

/**
 * Runs in the page. Renders what `content-visibility: auto` skips outside the window, scrolls to the top, keeps the
 * looks that were seen while scrolling, lets no transition begin, and returns whether the page scrolls sideways: the
 * root's overflow applies to the window, or else the body's.
 */
const REACH = `(setStyle) => {
  const elements = Document.prototype.querySelectorAll.call(document, '*');
  for (const element of elements) {
    if (getComputedStyle(element).contentVisibility !== 'auto') continue;
    setStyle(element, { 'content-visibility': 'visible' });
  }
  scrollTo({ top: 0, left: 0, behavior: 'instant' });
  (${KEEP_LOOKS})(setStyle);
  (${END_TRANSITIONS})();
  const [root, body] = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  const overflows = [root, body].map((element) => (element ? getComputedStyle(element).overflowX : 'visible'));
  const overflow = overflows.find((each) => each !== 'visible');
  return { scrollsSideways: overflow !== 'hidden' && overflow !== 'clip', elements: elements.length };
}`;
