import { performance } from 'node:perf_hooks';
import { asyncScheduler, defer, filter, type Observable, of, type SchedulerLike, take, timer } from 'rxjs';

/** Number of items that are read together. Measured: a refused target takes 0.65 ms of the event loop. */
const TOGETHER = 4;
/** Minimum pause after them, in milliseconds, in which the event loop serves others. */
const MIN_PAUSE_MS = 1;
/** Interval at which the utilization is checked during a pause, in milliseconds. */
const CHECK_MS = 4;

/**
 * A pause ends once the event loop has been busy for at most `share` of the time since the items were read. It ends
 * after `maxMs` at the latest, so a batch makes progress even when the event loop is never idle.
 */
interface Pause {
  readonly share: number;
  readonly maxMs: number;
}
const ALONE: Pause = { share: 0.5, maxMs: 5 };
const SHARED: Pause = { share: 0.15, maxMs: 40 };

interface ReadPaceOptions {
  /** Whether other owners have captures. */
  readonly hasOthers: () => boolean;
  readonly scheduler?: SchedulerLike;
  /** @default The utilization of this thread. */
  readonly utilization?: typeof performance.eventLoopUtilization;
}

/**
 * Keeps the items of a batch from filling the event loop: dead targets end within a millisecond, so the next ones
 * are read at once, and captures of other owners would wait at each of their steps.
 */
export function createReadPace({
  hasOthers,
  scheduler = asyncScheduler,
  utilization = performance.eventLoopUtilization,
}: ReadPaceOptions) {
  let together = TOGETHER;
  let beganAt = Number.NEGATIVE_INFINITY;
  let usedAt = utilization();

  const mayRead = (): boolean => {
    if (together < TOGETHER) return true;
    const passedMs = scheduler.now() - beganAt;
    const { share, maxMs } = hasOthers() ? SHARED : ALONE;
    // The clock may be set back.
    if (passedMs < 0 || passedMs >= maxMs) return true;
    return passedMs >= MIN_PAUSE_MS && utilization(usedAt).utilization <= share;
  };
  const room$: Observable<unknown> = defer(() =>
    mayRead() ? of(null) : timer(MIN_PAUSE_MS, CHECK_MS, scheduler).pipe(filter(mayRead), take(1)),
  );
  return {
    /** Emits once, as soon as another item may be read. */
    room$,
    /** Notes that an item was read. */
    read(): void {
      if (together === TOGETHER) {
        together = 0;
        beganAt = scheduler.now();
        usedAt = utilization();
      }
      together += 1;
    },
  };
}
