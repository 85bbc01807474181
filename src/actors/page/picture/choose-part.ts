import { z } from 'zod';
import type { CaptureRequest, Rectangle } from '../../../capture-request.ts';
import { CapstanError } from '../../../errors.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { askPage, letGo } from './ask-page.ts';
import { viewportOf } from './emulate-device.ts';
import { holdable, type PictureSize, windowSize } from './picture-size.ts';
import { scrollToElement } from './scroll-to-element.ts';
import { SET_STYLE } from './set-style.ts';

/** What of the page the picture shows. */
export interface ChosenPart {
  /** CSS pixels of the page; null: the window. */
  readonly part: Rectangle | null;
  readonly size: PictureSize;
}

/** Throws `selector_not_found` when there is nothing at the place that the request names. */
export async function choosePart(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<ChosenPart> {
  const { fullPage, selector, clip } = request;
  if (!fullPage && selector === undefined && clip === undefined) return { part: null, size: windowSize(request) };
  const whole = await wholePage(page, request, deadline);
  if (selector !== undefined) {
    const element = await scrollToElement(page, selector, deadline);
    if (typeof element === 'string') throw new CapstanError('selector_not_found', WHY_NOT[element](selector));
    return partOf(whole, outwards(element), request, `what matches ${JSON.stringify(selector)}`);
  }
  if (clip !== undefined) return partOf(whole, clip, request, 'the clip');
  const { part, size } = holdable(whole, request);
  const fullHeight = Math.round(whole.height * viewportOf(request).deviceScaleFactor);
  return { part, size: { ...size, fullHeight } };
}

const WHY_NOT: Readonly<Record<'absent' | 'invisible', (selector: string) => string>> = {
  absent: (selector) => `the page has no element that matches ${JSON.stringify(selector)}`,
  invisible: (selector) => `what matches ${JSON.stringify(selector)} is not visible: it is hidden, or has no size`,
};

/** All that a person can come to by scrolling. */
async function wholePage(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<Rectangle> {
  const whole = await measure(page, deadline);
  const { width, height } = viewportOf(request);
  if (whole.width <= width && whole.height <= height) return whole;
  const reach = reachable.parse((await askPage(page, deadline, 'measure the page', `(${REACH})(${SET_STYLE})`)) ?? {});
  const { width: wide, height: tall, window } = reach.drawn === true ? await measure(page, deadline) : whole;
  return { x: 0, y: 0, width: reach.sideways === false ? Math.min(wide, window) : wide, height: tall };
}

const reachable = z.object({
  /** What was left undrawn is drawn now, and may have made the page another size. */
  drawn: z.boolean().optional(),
  sideways: z.boolean().optional(),
});

async function measure(page: IsolatedPage, deadline: Deadline): Promise<Rectangle & { readonly window: number }> {
  const measuring = letGo(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const { cssContentSize, cssLayoutViewport } = await deadline.step('measure the page', measuring);
  const width = Math.max(1, Math.ceil(cssContentSize.width));
  const height = Math.max(1, Math.ceil(cssContentSize.height));
  return { x: 0, y: 0, width, height, window: cssLayoutViewport.clientWidth };
}

function partOf(whole: Rectangle, wanted: Rectangle, request: CaptureRequest, what: string): ChosenPart {
  const x = Math.max(0, wanted.x);
  const y = Math.max(0, wanted.y);
  const width = Math.min(wanted.x + wanted.width, whole.width) - x;
  const height = Math.min(wanted.y + wanted.height, whole.height) - y;
  if (width > 0 && height > 0) return holdable({ x, y, width, height }, request);
  const { width: right, height: bottom } = whole;
  throw new CapstanError(
    'selector_not_found',
    `${what} lies outside of the page, which has ${right} by ${bottom} CSS pixels`,
  );
}

/** In whole pixels. */
function outwards({ x, y, width, height }: Rectangle): Rectangle {
  const left = Math.floor(x);
  const top = Math.floor(y);
  return { x: left, y: top, width: Math.ceil(x + width) - left, height: Math.ceil(y + height) - top };
}

/**
 * Runs in the page: what `content-visibility: auto` leaves undrawn outside of the window is drawn, and whether the page
 * can be scrolled sideways is found out. The root's overflow is that of the window, or else the body's is.
 */
const REACH = `(setStyle) => {
  let drawn = false;
  for (const element of Document.prototype.querySelectorAll.call(document, '*')) {
    if (getComputedStyle(element).contentVisibility !== 'auto') continue;
    setStyle(element, { 'content-visibility': 'visible' });
    drawn = true;
  }
  const [root, body] = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  const overflows = [root, body].map((element) => (element ? getComputedStyle(element).overflowX : 'visible'));
  const overflow = overflows.find((each) => each !== 'visible');
  return { drawn, sideways: overflow !== 'hidden' && overflow !== 'clip' };
}`;
