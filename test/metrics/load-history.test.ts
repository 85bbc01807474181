import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { HISTORY_MS, SAMPLE_MS } from '../../src/capture/operation/history-times.ts';
import type { Pressure } from '../../src/capture/operation/pressure.ts';
import { LastMinute } from '../../src/metrics/last-minute.ts';
import { LoadHistory } from '../../src/metrics/load-history.ts';

const PRESSURE: Pressure = {
  running: 0,
  queued: 0,
  maxConcurrent: 4,
  maxQueued: 10,
  cpu: 12.5,
  memory: null,
  eventLoopDelayMs: 1,
  accepting: true,
  reason: '',
  cluster: null,
};
const COUNTS = { accepted: 0, stored: 0, failed: 0, timed_out: 0, cancelled: 0, rejected: 0, refused: 0, reused: 0 };

/** A history whose clock is set by the test, with one capture stored in each second. */
function rig() {
  const clock = { now: 1_000_000 };
  let seconds = 0;
  const history = new LoadHistory({
    events$: new Subject(),
    stats: () => ({
      captures: { ...COUNTS, stored: seconds, inside: 0 },
      queue: { running: 2, queued: 3, max_concurrent: 4, max_queue: 10 },
      pool: { busy: 0, idle: 0, browsers: [], launches: 0, crashes: 0 },
    }),
    clock: () => clock.now,
  });
  const second = (pressure: Partial<Pressure> = {}) => {
    seconds += 1;
    clock.now += 1000;
    history.note({ ...PRESSURE, ...pressure });
  };
  return { history, second, clock };
}

describe('LoadHistory', () => {
  it('takes a sample every 5 s, with what happened since the one before', () => {
    const { history, second } = rig();
    for (let at = 1; at <= 10; at += 1) second({ eventLoopDelayMs: at === 7 ? 300 : 1 });
    expect(history.after(0)).toMatchObject([
      { at: new Date(1_005_000).toISOString(), interval_ms: 5000, stored: 5, queued: 3, event_loop_delay_ms: 1 },
      { stored: 5, running: 2, max_concurrent: 4, cpu: 12.5, memory: null, event_loop_delay_ms: 300 },
    ]);
    expect(history.after(1_005_000)).toHaveLength(1);
    expect(history.after(1_010_000)).toEqual([]);
  });

  it('keeps one hour', () => {
    const { history, second, clock } = rig();
    for (let at = 0; at < 2 * (HISTORY_MS / 1000); at += 1) second();
    const [oldest] = history.after(0);
    expect(history.after(0)).toHaveLength(HISTORY_MS / SAMPLE_MS);
    expect(Date.parse(oldest?.at ?? '')).toBe(clock.now - HISTORY_MS + SAMPLE_MS);
  });

  it('begins again when the clock is set back', () => {
    const { history, second, clock } = rig();
    for (let at = 0; at < 5; at += 1) second();
    clock.now -= 60_000;
    for (let at = 0; at < 6; at += 1) second();
    expect(history.after(0)).toHaveLength(2);
    expect(history.after(0).every(({ interval_ms: interval }) => interval >= 0)).toBe(true);
  });
});

describe('LastMinute', () => {
  it('returns percentiles of the durations of the last minute', () => {
    let now = 0;
    const window = new LastMinute(() => now);
    expect(window.percentiles()).toBeNull();
    window.add(100_000);
    now = 60_001;
    for (let ms = 1; ms <= 100; ms += 1) window.add(ms);
    expect(window.percentiles()).toEqual({ p50: 50, p95: 95, p99: 99 });
  });

  it('keeps the newest of very many', () => {
    const window = new LastMinute(() => 0);
    for (let ms = 0; ms < 100_000; ms += 1) window.add(ms);
    expect(window.percentiles()?.p50).toBe(89_999);
  });
});
