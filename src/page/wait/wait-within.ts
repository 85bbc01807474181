import { type Deadline, within } from '../../capture/deadline.ts';
import { PageCrashedError } from '../frames/main-frame.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/**
 * Resolves with whether `work` is done before the waiting time is over, or within `maxMs`. Rejects as `work` does, and
 * with a `PageCrashedError` when the page crashes, because `work` may never settle then.
 */
export async function waitWithin(
  { frame }: IsolatedPage,
  deadline: Deadline,
  step: string,
  work: Promise<unknown>,
  maxMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const crashed = frame.until(() => frame.crashed);
  const done = Promise.race([work, crashed]).then(() => true);
  const finished = await deadline.step(step, within(Math.min(deadline.waitingMs, maxMs), done, false));
  if (frame.crashed) throw new PageCrashedError();
  return finished;
}
