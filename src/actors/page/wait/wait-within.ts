import { type Deadline, within } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** The renderer of the page died. The capture may be tried once more. */
export class PageCrashedError extends Error {
  override readonly name = 'PageCrashedError';
}

/**
 * Whether `work` is done before no more time is to be spent on waiting. Rejects as `work` does, and with a
 * `PageCrashedError` when the page dies first, which `work` may never hear of.
 */
export async function waitWithin(
  { frame }: IsolatedPage,
  deadline: Deadline,
  step: string,
  work: Promise<unknown>,
): Promise<boolean> {
  const crashed = frame.until(() => frame.crashed);
  const done = Promise.race([work, crashed]).then(() => true);
  const came = await deadline.step(step, within(deadline.waitingMs, done, false));
  if (frame.crashed) throw new PageCrashedError();
  return came;
}
