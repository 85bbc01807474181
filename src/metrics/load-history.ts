import type { Observable } from 'rxjs';
import type { CapstanEvent } from '../capture/events.ts';
import type { LoadSample } from '../capture/operation/history.ts';
import { HISTORY_MS, SAMPLE_MS } from '../capture/operation/history-times.ts';
import type { Pressure } from '../capture/operation/pressure.ts';
import type { ServiceStats } from '../capture/operation/stats.ts';
import { LastMinute } from './last-minute.ts';

const MAX_SAMPLES = HISTORY_MS / SAMPLE_MS;

type Stats = Pick<ServiceStats, 'captures' | 'queue' | 'pool'>;

interface LoadHistoryOptions {
  readonly events$: Observable<CapstanEvent>;
  readonly stats: () => Stats;
  /** Returns the time since 1970, in milliseconds. */
  readonly clock: () => number;
}

/** The load of this process over the last hour, in memory. */
export class LoadHistory {
  readonly #options: LoadHistoryOptions;
  readonly #samples: LoadSample[] = [];
  readonly #waits: LastMinute;
  readonly #durations: LastMinute;
  #last: { readonly at: number; readonly captures: ServiceStats['captures'] };
  #loopDelayMs = 0;

  constructor(options: LoadHistoryOptions) {
    const { events$, stats, clock } = options;
    this.#options = options;
    this.#waits = new LastMinute(clock);
    this.#durations = new LastMinute(clock);
    this.#last = { at: clock(), captures: stats().captures };
    events$.subscribe((event) => {
      if (event.type === 'capture.started') this.#waits.add(event.waited_ms);
      if (event.type === 'capture.stored') this.#durations.add(event.result.duration_ms);
    });
  }

  /** Takes a sample when `SAMPLE_MS` have passed since the last one. Call it once a second. */
  note(pressure: Pressure): void {
    this.#loopDelayMs = Math.max(this.#loopDelayMs, pressure.eventLoopDelayMs);
    const at = this.#options.clock();
    // Half a second early is on time.
    const since = at - this.#last.at;
    if (since >= 0 && since < SAMPLE_MS - 500) return;
    // After a clock was set back, the samples stay in order.
    if (since < 0) this.#samples.length = 0;
    this.#samples.push(this.#sample(at, pressure));
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
    this.#loopDelayMs = 0;
  }

  /** Returns the samples after a time, oldest first. `after`: milliseconds since 1970. */
  after(after: number): readonly LoadSample[] {
    const newer = this.#samples.findIndex(({ at }) => Date.parse(at) > after);
    return newer === -1 ? [] : this.#samples.slice(newer);
  }

  #sample(at: number, { cpu, memory }: Pressure): LoadSample {
    const { captures, queue, pool } = this.#options.stats();
    const { at: before, captures: last } = this.#last;
    this.#last = { at, captures };
    return {
      at: new Date(at).toISOString(),
      interval_ms: Math.max(0, at - before),
      stored: captures.stored - last.stored,
      failed: captures.failed - last.failed,
      timed_out: captures.timed_out - last.timed_out,
      refused: captures.refused + captures.rejected - last.refused - last.rejected,
      running: queue.running,
      queued: queue.queued,
      max_concurrent: queue.max_concurrent,
      wait_ms: this.#waits.percentiles(),
      duration_ms: this.#durations.percentiles(),
      cpu,
      memory,
      event_loop_delay_ms: this.#loopDelayMs,
      browsers: pool.browsers.length,
    };
  }
}
