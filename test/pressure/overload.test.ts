import { describe, expect, it } from 'vitest';
import type { Gauge, Reading } from '../../src/pressure/gauge.ts';
import { watchPressure } from '../../src/pressure/monitor.ts';
import { createJudge } from '../../src/pressure/overload.ts';
import { overloadThresholds } from '../../src/pressure/thresholds.ts';
import { heard, request, rig, virtually } from '../streams/rig.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxConcurrent: 2, maxQueue: 10 };
const THRESHOLDS = overloadThresholds({ maxMemoryMb: 100, minFreeMemory: 10, maxLoopDelayMs: 1000 });

interface Second {
  readonly delayMs?: number;
  readonly rssMib?: number;
  /** Free memory, in per cent. */
  readonly free?: number;
  /** Number of open descriptors, out of 100. */
  readonly descriptors?: number;
}

/** Creates a gauge that returns the seconds in order, and repeats the last one. */
function scripted(seconds: readonly Second[]): Gauge & { readonly closed: boolean } {
  let next = -1;
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    read(): Reading {
      const {
        delayMs = 0,
        rssMib = 50,
        free = 50,
        descriptors = 10,
      } = seconds[Math.min(next++, seconds.length - 1)] ?? {};
      const memory = { availableBytes: free * MIB, totalBytes: 100 * MIB };
      return {
        eventLoopDelayMs: delayMs,
        rssBytes: rssMib * MIB,
        memory,
        descriptors: { open: descriptors, limit: 100 },
        cpu: 1,
      };
    },
    close: () => {
      closed = true;
    },
  };
}

/** Returns the reason why a capture would be refused in each of `count` seconds: `''` when it would be admitted. */
function refusals(
  seconds: readonly Second[],
  count: number,
  activeCaptures: (second: number) => number = () => 0,
): string[] {
  const judge = createJudge(THRESHOLDS);
  const gauge = scripted(seconds);
  gauge.read();
  return Array.from({ length: count }, (_each, second) => {
    const overload = judge({ reading: gauge.read(), activeCaptures: activeCaptures(second), at: second * 1000 });
    return overload?.maxTaken === 0 ? overload.reason : '';
  });
}

const times = (count: number, second: Second): Second[] => Array.from({ length: count }, () => second);
const FINE = {};
const LATE = { delayMs: 1500 };

describe('createJudge', () => {
  it('reports overload after two readings in a row above a threshold, but not after one', () => {
    expect(refusals([LATE, FINE, LATE, FINE, { delayMs: 1000 }, { delayMs: 1000 }], 6)).toEqual([
      '',
      '',
      '',
      '',
      '',
      '',
    ]);
    expect(refusals([LATE, LATE], 2)).toEqual([
      '',
      'The service is overloaded: its event loop is 1500 ms late (refused above 1000 ms).',
    ]);
  });

  it('reports overload for at least 5 s', () => {
    const reasons = refusals([LATE, LATE, ...times(8, FINE)], 8);
    expect(reasons.map((reason) => reason !== '')).toEqual([false, true, true, true, true, true, false, false]);
  });

  it('reports overload until the low threshold is reached', () => {
    const reasons = refusals([...times(2, LATE), ...times(10, { delayMs: 300 }), { delayMs: 250 }], 13);
    expect(reasons.findLastIndex((reason) => reason !== '')).toBe(11);
    expect(reasons[11]).toContain('300 ms late');
  });

  it.each([
    ['little free memory', { free: 9 }, '9.0 % of the memory is free (refused below 10 %)'],
    ["the process's own memory", { rssMib: 101 }, 'its process uses 101 MiB of memory (refused above 100 MiB)'],
    ['file descriptors', { descriptors: 91 }, '91.0 % of its file descriptors are open (refused above 90 %)'],
    ['the delay of the event loop', { delayMs: 1001 }, 'its event loop is 1001 ms late (refused above 1000 ms)'],
  ])('gives the reason for %s', (_sign, second, reason) => {
    expect(refusals([second], 2)).toEqual(['', `The service is overloaded: ${reason}.`]);
  });

  it.each([
    ['1.5 times as much is free', { free: 9 }, { free: 14 }, { free: 15 }],
    ['a tenth of it is returned', { rssMib: 101 }, { rssMib: 95 }, { rssMib: 90 }],
  ])('reports overload of memory until %s', (_when, short, between, enough) => {
    const reasons = refusals([short, short, ...times(8, between), enough], 11, () => 1);
    expect(reasons.findLastIndex((reason) => reason !== '')).toBe(9);
  });

  it('ignores memory that is unknown, and free memory when its check is off', () => {
    const reading = { eventLoopDelayMs: 0, rssBytes: 0, memory: null, descriptors: null, cpu: 1 };
    const none = { ...reading, memory: { availableBytes: 0, totalBytes: 1 } };
    const unaware = createJudge(overloadThresholds({ maxMemoryMb: null, minFreeMemory: 0, maxLoopDelayMs: 1000 }));
    const judge = createJudge(THRESHOLDS);
    for (const at of [0, 1000, 2000]) {
      expect(judge({ reading, activeCaptures: 0, at })).toBeNull();
      expect(unaware({ reading: none, activeCaptures: 0, at })).toBeNull();
    }
  });

  it('admits one capture at a time after 30 s of overload with nothing running', () => {
    const busyAt = (second: number) => (second === 10 ? 1 : 0);
    const reasons = refusals([{ rssMib: 200 }], 50, busyAt);
    expect(reasons.map((reason) => reason !== '').lastIndexOf(true)).toBe(40);
  });
});

describe('watchPressure', () => {
  it('refuses new captures with a time to retry, while admitted captures continue', () => {
    virtually(({ cold }, scheduler) => {
      const { pipeline, runBatch, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: () => cold('3s (a|)', { a: { state: 'cancelled', failure: { code: 'cancelled', reason: '' } } }),
      });
      const gauge = scripted([LATE, LATE, FINE]);
      const monitor = watchPressure({
        gauge,
        judge: createJudge(THRESHOLDS),
        activeCaptures: () => pipeline.load.taken,
        onVerdict: (overload) => pipeline.setOverload(overload),
        giveBack: () => {},
        scheduler,
      });
      const out: string[] = [];
      const errors: unknown[] = [];
      runBatch([request('a'), request('b'), request('c')], { concurrency: 2 }).subscribe();
      scheduler.schedule(() => {
        heard(pipeline.admit(request('d')), out, 'd');
        pipeline.admit(request('e')).subscribe({ error: (error) => errors.push(error) });
      }, 2500);
      scheduler.schedule(() => heard(pipeline.admit(request('f')), out, 'f'), 7500);
      scheduler.schedule(() => {
        expect(monitor.reading.eventLoopDelayMs).toBe(0);
        monitor.stop();
        expect(gauge.closed).toBe(true);
      }, 20_000);
      scheduler.flush();
      expect(out).toEqual(['d refused queue_full', 'f cancelled']);
      // The overload began at 2 s and lasts until 7 s at least.
      expect(errors).toMatchObject([{ retryAfterSeconds: 5, message: expect.stringContaining('overloaded') }]);
      expect(log.filter((line) => line.includes('started'))).toEqual([
        '0 started a',
        '0 started b',
        '3000 started c',
        '7500 started f',
      ]);
    });
  });
});
