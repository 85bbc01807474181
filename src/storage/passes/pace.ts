import { setTimeout as sleep } from 'node:timers/promises';

/** Work shorter than this needs no pause, in milliseconds. */
const WORK_MS = 10;
const MAX_PAUSE_MS = 1000;
/** Pause per time worked: background work takes a third of the available time, and less of a busy disk. */
const PAUSE_PER_WORK = 2;

/** Pauses in proportion to the duration of the last step. Await it between the steps of long background work. */
export type Pace = () => Promise<void>;

/** Returns a pace that does not pause once the signal is aborted. */
export function createPace(signal?: AbortSignal): Pace {
  let since = performance.now();
  return async () => {
    const worked = performance.now() - since;
    if (worked < WORK_MS) return;
    const options = { ref: false, ...(signal === undefined ? {} : { signal }) };
    await sleep(Math.min(worked * PAUSE_PER_WORK, MAX_PAUSE_MS), undefined, options).catch(() => undefined);
    since = performance.now();
  };
}
