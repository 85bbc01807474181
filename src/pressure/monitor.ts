import { asyncScheduler, interval, type SchedulerLike } from 'rxjs';
import type { Overload } from '../capture/operation/pressure.ts';
import type { Gauge } from './gauge.ts';
import { giveBackWhenIdle } from './give-back.ts';
import type { Judge } from './overload.ts';

interface PressureOptions {
  readonly gauge: Gauge;
  readonly judge: Judge;
  /** Captures that are waiting or running now. */
  readonly activeCaptures: () => number;
  /** Called with the verdict after every reading. */
  readonly onVerdict: (overload: Overload | null) => void;
  /** Returns free memory to the system; called several times while the service is idle. */
  readonly giveBack: () => void;
  readonly scheduler?: SchedulerLike;
}

/** Short enough that new work is refused before memory is exhausted. */
export const READING_INTERVAL_MS = 1_000;

/** Takes a reading now and every `READING_INTERVAL_MS`, until it is stopped. */
export function watchPressure(options: PressureOptions) {
  const { gauge, judge, activeCaptures, onVerdict, giveBack, scheduler = asyncScheduler } = options;
  const noteIdle = giveBackWhenIdle(giveBack);
  let reading = gauge.read();
  const readings = interval(READING_INTERVAL_MS, scheduler).subscribe((count) => {
    reading = gauge.read();
    // Not the wall clock: it may be set back during an overload.
    onVerdict(judge({ reading, activeCaptures: activeCaptures(), at: count * READING_INTERVAL_MS }));
    noteIdle(reading, activeCaptures());
  });
  return {
    /** The last reading. */
    get reading() {
      return reading;
    },
    stop: () => {
      readings.unsubscribe();
      gauge.close();
    },
  };
}
