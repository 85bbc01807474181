import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, within } from '../../capture/deadline.ts';
import { CdpError } from '../../cdp/connection.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call } from '../asking/page-scripts.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { holdStill } from '../loading/hold-still.ts';

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
 * Maximum time for an answer of a page whose scripts do not block it, and its share of the time that is left. Measured:
 * 1.7 s with 16 % of one CPU.
 */
const ANSWER_MS = 5_000;
const ANSWER_SHARE = 1 / 8;

/**
 * Requests a screenshot until it succeeds. Retries when Chromium refuses. When no answer comes, stops the page and
 * requests another, which is partial. A page at rest is not the cause, but a busy machine or a large image: it has half
 * of the time that is left.
 */
export async function retryScreenshot<T>(
  page: IsolatedPage,
  deadline: Deadline,
  shoot: () => Promise<T>,
): Promise<{ readonly answer: T; readonly isPartial: boolean }> {
  let isPartial = false;
  const shots: Promise<{ readonly answer: T }>[] = [];
  const answered = (maxMs = Number.POSITIVE_INFINITY) => {
    const patienceMs = Math.max(MIN_PATIENCE_MS, Math.min(maxMs, deadline.remainingMs / 2));
    return deadline.step('take the screenshot', within(patienceMs, Promise.any(shots), null));
  };
  for (let refusals = 0; ; ) {
    const { document } = page.frame;
    shots.push(shoot().then((answer) => ({ answer })));
    try {
      let shot = await answered(PATIENCE_MS);
      if (shot === null && (await restsAt(document, page, deadline))) shot = await answered();
      if (shot !== null) return { ...shot, isPartial };
      isPartial = true;
      await holdStill(page, deadline);
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error;
      const [reason] = error.errors;
      refusals += 1;
      if (!(reason instanceof CdpError) || refusals === MAX_REFUSALS) throw reason;
      shots.length = 0;
      await deadline.step('take the screenshot', delay(refusals * REFUSED_PAUSE_MS));
    }
  }
}

/** Returns whether the page has loaded this document, goes nowhere, and answers. */
async function restsAt(
  document: IsolatedPage['frame']['document'],
  page: IsolatedPage,
  deadline: Deadline,
): Promise<boolean> {
  if (page.frame.document !== document || !page.frame.rests('load')) return false;
  const patienceMs = Math.min(ANSWER_MS, deadline.remainingMs * ANSWER_SHARE);
  const answer = await deadline.step('take the screenshot', within(patienceMs, evaluate(page, call('answers')), false));
  return answer === true;
}
