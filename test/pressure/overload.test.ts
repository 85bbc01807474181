import { describe, expect, it } from 'vitest';
import type { Gauge, Reading } from '../../src/pressure/gauge.ts';
import { overloadMarks } from '../../src/pressure/marks.ts';
import { watchPressure } from '../../src/pressure/monitor.ts';
import { createJudge } from '../../src/pressure/overload.ts';
import { heard, request, rig, virtually } from '../streams/rig.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxConcurrent: 2, maxQueue: 10 };
const MARKS = overloadMarks({ maxMemoryMb: 100, minFreeMemory: 10, maxLoopDelayMs: 1000 });

interface Second {
  readonly delayMs?: number;
  readonly rssMib?: number;
  /** Per cent. */
  readonly free?: number;
  /** Of 100 file descriptors. */
  readonly descriptors?: number;
}

/** Reads the seconds one after the other, and the last one for ever. */
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

/** What is said of a capture that is asked for in each of so many seconds: `''` when it would be taken. */
function refusals(seconds: readonly Second[], count: number, inside: (second: number) => number = () => 0): string[] {
  const judge = createJudge(MARKS);
  const gauge = scripted(seconds);
  gauge.read();
  return Array.from({ length: count }, (_each, second) => {
    const overload = judge({ reading: gauge.read(), inside: inside(second), at: second * 1000 });
    return overload?.most === 0 ? overload.reason : '';
  });
}

const times = (count: number, second: Second): Second[] => Array.from({ length: count }, () => second);
const FINE = {};
const LATE = { delayMs: 1500 };

describe('overload', () => {
  it('begins when a mark was passed twice in a row, and not at a single pause', () => {
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
      'The service is overloaded: its event loop is 1500 ms late (refused above 1000).',
    ]);
  });

  it('lasts five seconds at least', () => {
    const said = refusals([LATE, LATE, ...times(8, FINE)], 8);
    expect(said.map((reason) => reason !== '')).toEqual([false, true, true, true, true, true, false, false]);
  });

  it('ends at the low mark, not below the high one', () => {
    const said = refusals([...times(2, LATE), ...times(10, { delayMs: 300 }), { delayMs: 250 }], 13);
    expect(said.findLastIndex((reason) => reason !== '')).toBe(11);
    expect(said[11]).toContain('300 ms late');
  });

  it.each([
    ['memory that is short', { free: 9 }, '9.0 % of the memory is free (refused below 10 %)'],
    ["the process's own memory", { rssMib: 101 }, 'its process takes 101 MiB of memory (refused above 100)'],
    ['file descriptors', { descriptors: 91 }, '91.0 % of its file descriptors are open (refused above 90 %)'],
    ['the delay of the event loop', { delayMs: 1001 }, 'its event loop is 1001 ms late (refused above 1000)'],
  ])('is told by %s', (_sign, second, reason) => {
    expect(refusals([second], 2)).toEqual(['', `The service is overloaded: ${reason}.`]);
  });

  it.each([
    ['half as much again is free', { free: 9 }, { free: 14 }, { free: 15 }],
    ['a tenth of it is given back', { rssMib: 101 }, { rssMib: 95 }, { rssMib: 90 }],
  ])('of memory is over when %s', (_when, short, between, enough) => {
    const said = refusals([short, short, ...times(8, between), enough], 11, () => 1);
    expect(said.findLastIndex((reason) => reason !== '')).toBe(9);
  });

  it('does not look at memory that cannot be known, nor at what it is told not to', () => {
    const reading = { eventLoopDelayMs: 0, rssBytes: 0, memory: null, descriptors: null, cpu: 1 };
    const none = { ...reading, memory: { availableBytes: 0, totalBytes: 1 } };
    const unaware = createJudge(overloadMarks({ maxMemoryMb: null, minFreeMemory: 0, maxLoopDelayMs: 1000 }));
    const judge = createJudge(MARKS);
    for (const at of [0, 1000, 2000]) {
      expect(judge({ reading, inside: 0, at })).toBeNull();
      expect(unaware({ reading: none, inside: 0, at })).toBeNull();
    }
  });

  it('that nothing inside can be the cause of lets one capture at a time in after half a minute', () => {
    const busyAt = (second: number) => (second === 10 ? 1 : 0);
    const said = refusals([{ rssMib: 200 }], 50, busyAt);
    expect(said.map((reason) => reason !== '').lastIndexOf(true)).toBe(40);
  });
});

describe('the pressure monitor', () => {
  it('closes the pipeline to what is new and to nothing that is inside, and tells when to come back', () => {
    virtually(({ cold }, scheduler) => {
      const { pipeline, runBatch, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: () => cold('3s (a|)', { a: { state: 'cancelled', failure: { code: 'cancelled', reason: '' } } }),
      });
      const gauge = scripted([LATE, LATE, FINE]);
      const monitor = watchPressure({
        gauge,
        judge: createJudge(MARKS),
        inside: () => pipeline.load.inside,
        onVerdict: (overload) => pipeline.setOverload(overload),
        scheduler,
      });
      const out: string[] = [];
      const errors: unknown[] = [];
      runBatch([request('a'), request('b'), request('c')], 2).subscribe();
      scheduler.schedule(() => {
        heard(pipeline.submit(request('d')), out, 'd');
        pipeline.submit(request('e')).subscribe({ error: (error) => errors.push(error) });
      }, 2500);
      scheduler.schedule(() => heard(pipeline.submit(request('f')), out, 'f'), 7500);
      scheduler.schedule(() => {
        expect(monitor.reading.eventLoopDelayMs).toBe(0);
        monitor.stop();
        expect(gauge.closed).toBe(true);
      }, 20_000);
      scheduler.flush();
      expect(out).toEqual(['d refused queue_full', 'f cancelled']);
      // Begun at 2 s, it lasts to 7 s at least.
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
