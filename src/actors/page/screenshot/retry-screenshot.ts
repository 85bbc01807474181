import { setTimeout as delay } from 'node:timers/promises';
import { CdpError } from '../../cdp/connection.ts';
import { type Deadline, within } from '../../deadline.ts';
import { holdStill } from '../hold-still.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Chromium sometimes refuses ("Unable to capture screenshot", or while a page is replaced) and accepts the retry. */
const MAX_REFUSALS = 5;
const REFUSED_PAUSE_MS = 20;

/**
 * Maximum time for a screenshot before the page is stopped, because a page that reloads itself repeatedly yields none.
 * Measured: other pages take about 80 ms, the largest 2 s.
 */
const PATIENCE_MS = 8_000;
const MIN_PATIENCE_MS = 150;

/**
 * Requests a screenshot until it succeeds. Retries when Chromium refuses; when no answer comes, stops the page and
 * requests another (`held`).
 */
export async function retryScreenshot<T>(
  page: IsolatedPage,
  deadline: Deadline,
  shoot: () => Promise<T>,
): Promise<{ readonly answer: T; readonly held: boolean }> {
  let held = false;
  const shots: Promise<{ readonly answer: T }>[] = [];
  for (let refusals = 0; ; ) {
    shots.push(shoot().then((answer) => ({ answer })));
    const patienceMs = Math.max(MIN_PATIENCE_MS, Math.min(PATIENCE_MS, deadline.remainingMs / 2));
    try {
      const shot = await deadline.step('take the picture', within(patienceMs, Promise.any(shots), null));
      if (shot !== null) return { ...shot, held };
      held = true;
      await holdStill(page, deadline);
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      const [reason] = error.errors;
      refusals += 1;
      if (!(reason instanceof CdpError) || refusals === MAX_REFUSALS) throw reason;
      shots.length = 0;
      await deadline.step('take the picture', delay(refusals * REFUSED_PAUSE_MS));
    }
  }
}
