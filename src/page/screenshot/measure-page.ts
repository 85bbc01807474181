import { z } from 'zod';
import { intersection } from '../../capture/comparison/boxes.ts';
import type { Deadline } from '../../capture/deadline.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import { askPage, unblocked } from '../asking/ask-page.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { HANDLER_MS, hearsResizing } from './hears-window.ts';
import { outwards } from './rectangles.ts';
import type { Rows } from './window-bands.ts';

/** The extent of a page, in CSS pixels from the upper left corner of its content. */
interface Extent {
  /** Everything that a reader can scroll to. */
  readonly whole: Rectangle;
  /** The part that the window shows. In a right-to-left page it starts at the right end. */
  readonly window: Rectangle;
}

/** Measurements of a page. */
export interface MeasuredPage extends Extent {
  /** Number of elements in the document, when it is larger than the window. */
  readonly elements: number;
  /** Rows that look otherwise when the page is scrolled to them, as something behind them is fixed to the window. */
  readonly beforeFixed: readonly Rows[];
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
    return { whole, window: whole, elements: 0, beforeFixed: [] };
  }
  const answer = await askPage(page, deadline, 'measure the page', call('showWhole'));
  const { elements, beforeFixed } = reached.parse(answer ?? {});
  return { ...(await measureExtent(page, { width, height }, deadline)), elements, beforeFixed };
}

/** Measures the extent of a page as it is now. */
export async function measureExtent(
  page: IsolatedPage,
  { width, height }: Pick<Rectangle, 'width' | 'height'>,
  deadline: Deadline,
): Promise<Extent> {
  const [scrollsSideways, { size, left, clientWidth }] = await Promise.all([
    askPage(page, deadline, 'measure the page', call('scrollsSideways')),
    measure(page, deadline),
  ]);
  const whole =
    scrollsSideways === false
      ? { x: left, y: 0, width: Math.min(size.width - left, clientWidth), height: size.height }
      : { x: 0, y: 0, ...size };
  return { whole, window: { x: left, y: 0, width, height } };
}

/** Moves a box from the window at the top of the page to the page, in whole pixels. */
export function boxOnPage(box: Rectangle, { whole, window }: Extent): Rectangle {
  return outwards({ ...box, x: box.x + window.x - whole.x });
}

/** Returns whether a box in the window at the top of a page of this extent is on the page. */
export function onPage(extent: Extent): (box: Rectangle) => boolean {
  return (box) => intersection(boxOnPage(box, extent), { ...extent.whole, x: 0, y: 0 }) !== null;
}

/** Shows what a main scroller hides, and what the page hides again when it is scrolled back, before it is printed. */
export async function showEverything(page: IsolatedPage, deadline: Deadline): Promise<void> {
  await unfolds(page, deadline);
  await askPage(page, deadline, 'measure the page', call('keepLooksOnPaper'));
}

/** Returns whether the page had a main scroller, which is now as high as its content and shows all of it. */
async function unfolds(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  if ((await askPage(page, deadline, 'measure the page', call('unfoldScroller'))) !== true) return false;
  // Such a page may draw only what its scroller shows, and observes its size or awaits the event.
  if (await deadline.step('measure the page', unblocked(page, deadline, hearsResizing(page)))) {
    await askPage(page, deadline, 'measure the page', call('tellResized', Math.min(HANDLER_MS, deadline.waitingMs)));
  }
  return true;
}

const reached: z.ZodType<ResultOf<'showWhole'>> = z.object({
  elements: z.number().default(0),
  beforeFixed: z.array(z.object({ top: z.number(), bottom: z.number() })).default([]),
});

async function measure(page: IsolatedPage, deadline: Deadline) {
  const measuring = unblocked(page, deadline, page.session.send('Page.getLayoutMetrics'));
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
