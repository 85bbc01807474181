import type { Deadline } from '../../capture/deadline.ts';
import { evaluate } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { PAUSE } from './pause.ts';
import { WATCH_WORK } from './signs-of-work.ts';
import { waitWithin } from './wait-within.ts';
import { MAX_MOVING_MS, QUIET_MS, WATCH_CHANGES } from './watch-changes.ts';

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
    const answer = await evaluate(page, `(${AWAIT_QUIET})(${Math.max(0, end - performance.now())})`);
    // Undefined: the page shows another document, and the wait for it starts at its load.
    if (answer === undefined || page.requests.started === started) return;
  }
}

/**
 * Runs in the page. Resolves when nothing has changed for `QUIET_MS` and the page shows no sign of work, or after
 * `maxMs`. Scroll handlers and observers run in the first frames. A slow page or a busy machine may take longer than
 * `QUIET_MS` for a frame: after a change or a sign of work, the next frame must bring no other.
 */
const AWAIT_QUIET = `(maxMs) => new Promise((resolve) => {
  const end = performance.now() + maxMs;
  const changes = (${WATCH_CHANGES})();
  const isWorking = (${WATCH_WORK})();
  const pause = ${PAUSE};
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  // A page can cancel frames.
  const untilEnd = (frames) => Promise.race([frames, pause(Math.max(0, end - performance.now()))]);
  /** Number of changes after which a frame was awaited. */
  let followed = 0;
  /** Whether there was a sign of work since a frame was awaited: most canvases change once a frame. */
  let worked = false;
  const check = () => {
    const now = performance.now();
    const { count, last } = changes.noticed();
    const left = Math.min(end, last + ${QUIET_MS}) - now;
    if (left > 0) return pause(left).then(check);
    if (now < end && isWorking(end - now)) {
      worked = true;
      return pause(Math.min(end - now, ${QUIET_MS})).then(check);
    }
    const changed = count > followed && now < changes.beginning + ${MAX_MOVING_MS};
    if (now < end && (worked || changed)) {
      followed = count;
      worked = false;
      return untilEnd(frame()).then(check);
    }
    changes.end();
    resolve('quiet');
  };
  untilEnd(frame().then(frame)).then(check);
})`;
