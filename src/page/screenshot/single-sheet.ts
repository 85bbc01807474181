import type { Deadline } from '../../capture/deadline.ts';
import { askPage, unblocked } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { removeBreaksInClosedTrees } from './closed-trees.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Change of the window's height by which heights that follow the window are found, in CSS pixels. */
const PROBE = 100;
/** Rounding between the layout of the window and that of the sheet, in CSS pixels. */
const ROUNDING = 2;
/** Chromium (156) shrinks a page that is too wide for its sheet, until the page has this multiple of its width. */
const MAX_SHRINK = 1.5;
/**
 * Chromium rounds the sides of a sheet to whole points. Measured: the width grows by at most 2 CSS pixels at scale 1.
 */
const WIDENED = 3;

/**
 * Returns the size in CSS pixels of a sheet that holds the whole page: `width` CSS pixels wide, or as wide as the page
 * when it is written in columns. Heights that depend on the window, such as `100vh`, stay as they are in
 * the window: otherwise they would be as high as the sheet. Breaks between pages are removed.
 */
export async function sizeOfSheet(
  page: IsolatedPage,
  { viewport, paperMedia, pdf }: ShotPlan,
  deadline: Deadline,
  width: number,
): Promise<{ readonly width: number; readonly height: number }> {
  const { session } = page;
  const { height } = viewport;
  const lay = (size: { readonly width: number; readonly height: number }) =>
    session.post('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
  const measure = async () => {
    const measuring = unblocked(page, deadline, session.send('Page.getLayoutMetrics'));
    return (await deadline.step('measure the sheet', measuring)).cssContentSize;
  };
  session.post('Emulation.setEmulatedMedia', paperMedia);
  lay({ width, height });
  await deadline.step('measure the sheet', unblocked(page, deadline, removeBreaksInClosedTrees(page)));
  const inColumns = await askPage(page, deadline, 'measure the sheet', call('prepareSheet'));
  lay({ width, height: height + PROBE });
  await askPage(page, deadline, 'measure the sheet', call('keepHeights'));
  lay({ width, height });
  const content = await measure();
  if (inColumns === true) {
    return { width: Math.ceil(content.width) + ROUNDING, height: Math.ceil(content.height) + ROUNDING };
  }
  if (content.width <= width) return { width, height: Math.ceil(content.height) + ROUNDING };
  const laidOut = Math.min(Math.ceil(content.width), Math.floor(width * MAX_SHRINK));
  lay({ width: laidOut, height });
  const shrunk = ((await measure()).height * (width + WIDENED / pdf.scale)) / laidOut;
  return { width, height: Math.ceil(shrunk) + ROUNDING };
}
