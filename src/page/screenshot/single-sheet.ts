import type { Deadline } from '../../capture/deadline.ts';
import { askPage, letGo } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { call } from '../page-scripts.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Change of the window's height by which heights that follow the window are found, in CSS pixels. */
const PROBE = 100;
/** Rounding between the layout of the window and that of the sheet, in CSS pixels. */
const ROUNDING = 2;

/**
 * Returns the height of the page in CSS pixels when it is laid out in `width` CSS pixels for the sheet. What follows
 * the height of the window, as `100vh` does, keeps the height that it has in the window: otherwise it would be as high
 * as the sheet. Breaks between pages are removed.
 */
export async function heightOfSheet(
  page: IsolatedPage,
  { viewport, paperMedia }: ShotPlan,
  deadline: Deadline,
  width: number,
): Promise<number> {
  const { session } = page;
  const lay = (height: number) =>
    session.post('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  const { height } = viewport;
  session.post('Emulation.setEmulatedMedia', paperMedia);
  lay(height);
  await askPage(page, deadline, 'measure the sheet', call('prepare-sheet'));
  lay(height + PROBE);
  await askPage(page, deadline, 'measure the sheet', call('keep-heights'));
  lay(height);
  const measuring = letGo(page, deadline, session.send('Page.getLayoutMetrics'));
  const { cssContentSize } = await deadline.step('measure the sheet', measuring);
  return Math.ceil(cssContentSize.height) + ROUNDING;
}
