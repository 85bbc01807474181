import { setTimeout as sleep } from 'node:timers/promises';

/** Work shorter than this is not worth a pause. */
const WORK_MS = 10;
const MAX_PAUSE_MS = 1000;
/** Pause for each time worked: what has time takes a third of what there is, and less of a disk that is busy. */
const PAUSE_PER_WORK = 2;

/** To be awaited between the steps of long work that nobody waits for: pauses as long as the steps deserve. */
export type Pace = () => Promise<void>;

/** Without pauses once the signal is aborted. */
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
