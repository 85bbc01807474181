import { type Deadline, within } from '../../capture/deadline.ts';
import { CapstanError } from '../../capture/errors.ts';
import { CdpError } from '../../cdp/connection.ts';
import { PageCrashedError } from '../frames/main-frame.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { isOneColour } from '../screenshot/is-one-colour.ts';
import { shootWindow } from '../screenshot/shoot-window.ts';
import type { ShotPlan } from '../screenshot/shot-plan.ts';

/** Maximum time for a page whose waiting time is over to report that it has painted. */
const PAINT_MS = 500;

/** Resolves when a page whose waiting time is over has painted; rejects with `capture_timeout` when it has not. */
export async function demandPaint(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<void> {
  const { frame } = page;
  const patienceMs = Math.min(PAINT_MS, deadline.remainingMs / 4);
  const painted = frame.until(() => frame.painted || frame.crashed);
  await deadline.step('paint', within(patienceMs, painted, undefined));
  if (frame.crashed) throw new PageCrashedError();
  if (frame.painted || (await showsSomething(page, plan, deadline))) return;
  throw new CapstanError('capture_timeout', 'when its time was over, the page had shown nothing');
}

/**
 * Checks a small screenshot, because paints of child frames are not reported as the page's own. A page that cannot be
 * checked in time counts as showing something.
 */
async function showsSomething(page: IsolatedPage, plan: ShotPlan, deadline: Deadline): Promise<boolean> {
  const shot = shootWindow(page, plan, { format: 'png', optimizeForSpeed: true }).catch((error) => {
    if (error instanceof CdpError) return null;
    throw error;
  });
  const image = await deadline.step('look at the page', within(deadline.remainingMs / 3, shot, null));
  return image === null || !(await isOneColour(image));
}
