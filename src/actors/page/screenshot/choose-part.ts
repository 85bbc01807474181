import { CapstanError } from '../../../capture/errors.ts';
import type { CaptureRequest, Rectangle } from '../../../capture/request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { viewportOf } from './emulate-device.ts';
import { measurePage } from './measure-page.ts';
import { holdable, type ScreenshotSize, windowSize } from './screenshot-size.ts';
import { scrollToElement } from './scroll-to-element.ts';

/** What of the page the screenshot shows. */
export interface ChosenPart {
  /** CSS pixels of the page; null: the window. */
  readonly part: Rectangle | null;
  readonly size: ScreenshotSize;
}

/** Throws `selector_not_found` when there is nothing at the place that the request names. */
export async function choosePart(page: IsolatedPage, request: CaptureRequest, deadline: Deadline): Promise<ChosenPart> {
  const { fullPage, selector, clip } = request;
  if (!fullPage && selector === undefined && clip === undefined) return { part: null, size: windowSize(request) };
  const { whole, origin } = await measurePage(page, request, deadline);
  if (selector !== undefined) {
    const element = await scrollToElement(page, selector, deadline);
    if (typeof element === 'string') throw new CapstanError('selector_not_found', WHY_NOT[element](selector));
    const box = outwards({ ...element, x: element.x + origin - whole.x });
    return partOf(whole, box, request, `what matches ${JSON.stringify(selector)}`);
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

/** What of a part, given from the page's own upper left corner, there is. */
function partOf(whole: Rectangle, wanted: Rectangle, request: CaptureRequest, what: string): ChosenPart {
  const x = Math.max(0, wanted.x);
  const y = Math.max(0, wanted.y);
  const width = Math.min(wanted.x + wanted.width, whole.width) - x;
  const height = Math.min(wanted.y + wanted.height, whole.height) - y;
  if (width > 0 && height > 0) return holdable({ x: whole.x + x, y: whole.y + y, width, height }, request);
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
