import type { CaptureRequest, Rectangle } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { askPage, letGo } from './ask-page.ts';
import { viewportOf } from './emulate-device.ts';
import { SET_STYLE } from './set-style.ts';

/** CSS pixels from the left end of all that the page holds. */
export interface MeasuredPage {
  /** All that a person can come to by scrolling. */
  readonly whole: Rectangle;
  /** Where the window stands at first: not at the left end, when the page is written from right to left. */
  readonly origin: number;
}

/** A page that is larger than the window is shown from its top, with all that it holds drawn. */
export async function measurePage(
  page: IsolatedPage,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<MeasuredPage> {
  const { width, height } = viewportOf(request);
  const first = await measure(page, deadline);
  if (first.width <= width && first.height <= height) {
    return { whole: { x: 0, y: 0, width: first.width, height: first.height }, origin: 0 };
  }
  const sideways = await askPage(page, deadline, 'measure the page', `(${REACH})(${SET_STYLE})`);
  const { window, origin, ...size } = await measure(page, deadline);
  const whole =
    sideways === false
      ? { x: origin, y: 0, width: Math.min(size.width - origin, window), height: size.height }
      : { x: 0, y: 0, ...size };
  return { whole, origin };
}

async function measure(page: IsolatedPage, deadline: Deadline) {
  const measuring = letGo(page, deadline, page.session.send('Page.getLayoutMetrics'));
  const { cssContentSize, cssLayoutViewport } = await deadline.step('measure the page', measuring);
  return {
    width: Math.max(1, Math.ceil(cssContentSize.width)),
    height: Math.max(1, Math.ceil(cssContentSize.height)),
    window: cssLayoutViewport.clientWidth,
    origin: cssLayoutViewport.pageX,
  };
}

/**
 * Runs in the page: what `content-visibility: auto` leaves undrawn outside of the window is drawn, the page shown from
 * its top, and whether it can be scrolled sideways found out. The root's overflow is the window's, or else the body's.
 */
const REACH = `(setStyle) => {
  for (const element of Document.prototype.querySelectorAll.call(document, '*')) {
    if (getComputedStyle(element).contentVisibility !== 'auto') continue;
    setStyle(element, { 'content-visibility': 'visible' });
  }
  scrollTo({ top: 0, left: 0, behavior: 'instant' });
  const [root, body] = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  const overflows = [root, body].map((element) => (element ? getComputedStyle(element).overflowX : 'visible'));
  const overflow = overflows.find((each) => each !== 'visible');
  return overflow !== 'hidden' && overflow !== 'clip';
}`;
