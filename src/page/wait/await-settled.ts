import type { Deadline } from '../../capture/deadline.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { waitWithin } from './wait-within.ts';

/** Maximum time for a page to settle. Pages that poll, or that a script changes all the time, never settle. */
export const MAX_SETTLE_MS = 3_000;

/**
 * Waits until the page has settled: no request of its own in flight, and no change, for 100 ms, and no sign that more
 * is to come. Stops waiting after 3 s. Resolves with false when the deadline ended the wait before that.
 */
export async function awaitSettled(page: IsolatedPage, deadline: Deadline): Promise<boolean> {
  const over = new AbortController();
  const isCut = deadline.waitingMs < MAX_SETTLE_MS;
  const settled = await waitWithin(page, deadline, 'settle', settle(page, over.signal), MAX_SETTLE_MS);
  over.abort();
  return settled || !isCut;
}

async function settle(page: IsolatedPage, over: AbortSignal): Promise<void> {
  const end = performance.now() + MAX_SETTLE_MS;
  while (!over.aborted) {
    await page.requests.ended();
    const { started } = page.requests;
    const answer = await evaluate(page, call('awaitSettled', Math.max(0, end - performance.now())));
    // Undefined: the page shows another document, and the wait for it starts at its load.
    if (answer === undefined || page.requests.started === started) return;
  }
}
