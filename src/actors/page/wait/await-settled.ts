import type { Deadline } from '../../deadline.ts';
import { evaluate } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { WATCH_WORK } from './signs-of-work.ts';
import { waitWithin } from './wait-within.ts';
import { MAX_MOVING_MS, QUIET_MS, WATCH_CHANGES } from './watch-changes.ts';

/** Maximum time for a page to settle. Pages that poll, or that a script changes all the time, never settle. */
export const MAX_SETTLE_MS = 3_000;
/** Maximum time for one or two animation frames, in which scroll handlers and observers run. A page can cancel the frames. */
const MAX_FRAMES_MS = 500;

/**
 * Waits until the page has settled: no request of its own in flight, and no change, for 100 ms, and no sign that more is
 * to come. Stops waiting after 3 s.
 * Resolves with false when the deadline ended the wait before that.
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
 * `maxMs`. A busy machine may draw no frame for longer: after a change, the next frame must bring no other. `AbortSignal.timeout` is the one timer that the page's scripts cannot clear.
 */
const AWAIT_QUIET = `(maxMs) => new Promise((resolve) => {
  const end = performance.now() + maxMs;
  const changes = (${WATCH_CHANGES})();
  const isWorking = (${WATCH_WORK})();
  const later = (ms) => AbortSignal.timeout(Math.ceil(ms)).addEventListener('abort', check);
  const check = () => {
    const now = performance.now();
    const { count, last } = changes.noticed();
    const left = Math.min(end, last + ${QUIET_MS}) - now;
    if (left > 0) return later(left);
    if (now < end && isWorking(end - now)) return later(Math.min(end - now, ${QUIET_MS}));
    if (now < Math.min(end, changes.beginning + ${MAX_MOVING_MS}) && count > followed) {
      followed = count;
      return drawn(frame()).then(check);
    }
    changes.end();
    resolve('quiet');
  };
  let followed = 0;
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  const drawn = (frames) =>
    Promise.race([frames, new Promise((end) => AbortSignal.timeout(${MAX_FRAMES_MS}).addEventListener('abort', end))]);
  drawn(frame().then(frame)).then(check);
})`;
