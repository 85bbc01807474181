import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { asyncScheduler, concat, config, EMPTY, NEVER, of, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { heard, nameOf, request, rig, stored, virtually } from './rig.ts';

const LIMITS = { maxConcurrent: 2, maxQueue: 10 };

describe('capture pipeline', () => {
  afterEach(() => {
    config.onUnhandledError = null;
  });

  it('respects the limit and the order, and takes each capture through its states', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      for (const name of ['a', 'b', 'c']) {
        pipeline.admit(request(name)).subscribe();
      }
      expect(pipeline.load).toEqual({ running: 2, queued: 1, taken: 3 });
      flush();
      expect(log).toEqual([
        '0 queued a',
        '0 started a',
        '0 queued b',
        '0 started b',
        '0 queued c',
        '5 stored a',
        '5 started c',
        '5 stored b',
        '10 stored c',
      ]);
    });
  });

  it('emits the final event and frees the place before it delivers the outcome', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      const then: unknown[] = [];
      pipeline.admit(request('a')).subscribe(() => then.push(log.at(-1), pipeline.load));
      flush();
      expect(then).toEqual(['5 stored a', { running: 0, queued: 0, taken: 0 }]);
    });
  });

  it('does nothing before it is subscribed to', () => {
    virtually(({ cold }, scheduler) => {
      const { pipeline, log } = rig({ limits: LIMITS, scheduler, perform: () => cold('|') });
      pipeline.admit(request('a'));
      expect(log).toEqual([]);
      expect(pipeline.load.taken).toBe(0);
    });
  });

  it.each([
    ['a second outcome', (s: CaptureOutcome) => of(s, s)],
    [
      'an error after its outcome',
      (s: CaptureOutcome) =>
        concat(
          of(s),
          throwError(() => new Error('late')),
        ),
    ],
  ])('gives a capture one outcome in spite of %s', (_what, perform) => {
    virtually(({ flush }, scheduler) => {
      const { pipeline, log } = rig({ limits: LIMITS, scheduler, perform: (command) => perform(stored(command)) });
      pipeline.admit(request('a')).subscribe();
      flush();
      expect(log).toEqual(['0 queued a', '0 started a', '0 stored a']);
      expect(pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
    });
  });

  it('turns the failure of one capture into its outcome, and continues with the others', () => {
    virtually(({ cold, flush }, scheduler) => {
      const broken = new TypeError('something inside');
      const { pipeline, reported } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: (command) => {
          switch (nameOf(command.request.target.url)) {
            case 'unreachable':
              return throwError(() => new CapstanError('target_unreachable', 'No such name.'));
            case 'throws':
              throw broken;
            case 'empty':
              return EMPTY;
            case 'late':
              return throwError(() => new CapstanError('capture_timeout'));
            default:
              return cold('--(s|)', { s: stored(command) });
          }
        },
      });
      const out: unknown[] = [];
      for (const name of ['unreachable', 'throws', 'empty', 'late', 'good']) {
        pipeline.admit(request(name)).subscribe((outcome) => out.push(outcome));
      }
      flush();
      expect(out).toMatchObject([
        { state: 'failed', failure: { code: 'target_unreachable', reason: 'No such name.' }, result: null },
        { state: 'failed', failure: { code: 'internal', reason: 'An unexpected error in the service.' } },
        { state: 'failed', failure: { code: 'internal' } },
        { state: 'timed_out', failure: { code: 'capture_timeout' } },
        { state: 'stored' },
      ]);
      expect(reported).toEqual([broken, new Error('The capture ended without an outcome.')]);
    });
  });

  it('removes a queued capture at once when it is unsubscribed from, without performing it', () => {
    virtually(({ cold, flush }, scheduler) => {
      const performed: number[] = [];
      const { pipeline, log } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: (command) => {
          performed.push(command.id);
          return cold('5ms (s|)', { s: stored(command) });
        },
      });
      pipeline.admit(request('a')).subscribe();
      const b = pipeline.admit(request('b')).subscribe();
      pipeline.admit(request('c')).subscribe();
      b.unsubscribe();
      expect(pipeline.load).toEqual({ running: 1, queued: 1, taken: 2 });
      flush();
      expect(performed).toEqual([1, 3]);
      expect(log).toEqual([
        '0 queued a',
        '0 started a',
        '0 queued b',
        '0 queued c',
        '0 cancelled b',
        '5 stored a',
        '5 started c',
        '10 stored c',
      ]);
    });
  });

  it('aborts a running capture that is unsubscribed from, and frees its slot when it has really ended', () => {
    virtually(({ cold, flush }, scheduler) => {
      const reasons: unknown[] = [];
      const { pipeline, log, reported } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: ({ id, request, signal }) => {
          signal.addEventListener('abort', () => reasons.push(signal.reason.code));
          // The capture is abandoned at 2 ms; the teardown of its page takes until 8 ms.
          return id === 1
            ? cold('8ms #', {}, new Error('page closed'))
            : cold('2ms (s|)', { s: stored({ id, request }) });
        },
      });
      const a = pipeline.admit(request('a')).subscribe();
      pipeline.admit(request('b')).subscribe();
      scheduler.schedule(() => a.unsubscribe(), 2);
      scheduler.schedule(() => expect(pipeline.load).toEqual({ running: 1, queued: 1, taken: 2 }), 7);
      flush();
      expect(reasons).toEqual(['cancelled']);
      expect(log.slice(3)).toEqual(['8 cancelled a', '8 started b', '10 stored b']);
      expect(reported).toEqual([]);
    });
  });

  it('frees the slot of an aborted capture that never ends after 5 s, and reports it', () => {
    virtually(({ flush }, scheduler) => {
      const { pipeline, log, reported } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: (command) => (command.id === 1 ? NEVER : of(stored(command))),
      });
      const a = pipeline.admit(request('a')).subscribe();
      pipeline.admit(request('b')).subscribe();
      scheduler.schedule(() => a.unsubscribe(), 2);
      flush();
      expect(log.slice(3)).toEqual(['5002 cancelled a', '5002 started b', '5002 stored b']);
      expect(reported).toEqual([new Error('The capture had not ended 5000 ms after it was aborted.')]);
      expect(pipeline.load.taken).toBe(0);
    });
  });

  it('accepts the outcome of a capture that was stored in spite of being aborted', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      const a = pipeline.admit(request('a')).subscribe();
      scheduler.schedule(() => a.unsubscribe(), 2);
      flush();
      expect(log).toEqual(['0 queued a', '0 started a', '5 stored a']);
    });
  });

  it('aborts a capture that hangs 5 s past its deadline, and reports it as timed out', () => {
    virtually(({ flush }, scheduler) => {
      const aborted: unknown[] = [];
      const { pipeline, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: ({ signal }) => {
          signal.addEventListener('abort', () => aborted.push([scheduler.now(), signal.reason.code]));
          return NEVER;
        },
      });
      const out: unknown[] = [];
      pipeline.admit(request('a', 1000)).subscribe((outcome) => out.push(outcome));
      flush();
      expect(aborted).toEqual([[6000, 'capture_timeout']]);
      expect(out).toMatchObject([{ state: 'timed_out', failure: { code: 'capture_timeout' }, result: null }]);
      expect(log).toEqual(['0 queued a', '0 started a', '11000 timed_out a']);
    });
  });

  it('reports timed_out, not cancelled, for a capture that the backstop deadline aborted', () => {
    virtually(({ flush, cold }, scheduler) => {
      const { pipeline, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: ({ id }) =>
          id === 1
            ? cold('6001ms #', {}, new CapstanError('cancelled'))
            : cold('6001ms c', { c: { state: 'cancelled', failure: { code: 'cancelled', reason: '' } } }),
      });
      pipeline.admit(request('a', 1000)).subscribe();
      pipeline.admit(request('b', 1000)).subscribe();
      flush();
      expect(log.slice(4)).toEqual(['6001 timed_out a', '6001 timed_out b']);
    });
  });

  it('counts the deadline from the start of the capture, not from when it was queued', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, log } = rig({
        limits: { maxConcurrent: 1, maxQueue: 1 },
        scheduler,
        perform: (command) => cold('5s (s|)', { s: stored(command) }),
      });
      pipeline.admit(request('a', 1000)).subscribe();
      pipeline.admit(request('b', 1000)).subscribe();
      flush();
      expect(log.slice(3)).toEqual(['5000 stored a', '5000 started b', '10000 stored b']);
    });
  });

  it('admits as many captures as may run and wait, and refuses one more with queue_full and a retry time', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, counts, log } = rig({
        limits: { maxConcurrent: 2, maxQueue: 1 },
        scheduler,
        perform: (command) => cold('4s (s|)', { s: stored(command) }),
      });
      const out: string[] = [];
      for (const name of ['a', 'b', 'c', 'd']) {
        heard(pipeline.admit(request(name)), out, name);
      }
      expect(out).toEqual(['d refused queue_full']);
      expect(log.at(-1)).toBe('0 rejected d');
      expect(pipeline.refusal()).toMatchObject({ code: 'queue_full', status: 429, retryAfterSeconds: 1 });
      scheduler.schedule(() => heard(pipeline.admit(request('e')), out, 'e'), 4000);
      flush();
      expect(out.slice(1)).toEqual(['a stored', 'b stored', 'c stored', 'e stored']);
      expect(counts.captures).toMatchObject({ accepted: 4, stored: 4, rejected: 0, refused: 1, inside: 0 });
    });
  });

  it('starts waiting captures when the limits are raised, and loses nothing when they are lowered', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, log, counts } = rig({
        limits: { maxConcurrent: 1, maxQueue: 3 },
        scheduler,
        perform: (command) => cold('10ms (s|)', { s: stored(command) }),
      });
      const out: string[] = [];
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        heard(pipeline.admit(request(name)), out, name);
      }
      scheduler.schedule(() => {
        pipeline.setLimits({ maxConcurrent: 3, maxQueue: 3 });
        expect(pipeline.load).toEqual({ running: 3, queued: 1, taken: 4 });
        expect(pipeline.refusal()).toBeUndefined();
      }, 2);
      scheduler.schedule(() => {
        pipeline.setLimits({ maxConcurrent: 1, maxQueue: 0 });
        expect(pipeline.load).toEqual({ running: 3, queued: 1, taken: 4 });
        heard(pipeline.admit(request('f')), out, 'f');
      }, 4);
      flush();
      expect(log.filter((line) => /started|stored/.test(line))).toEqual([
        '0 started a',
        '2 started b',
        '2 started c',
        '10 stored a',
        '12 stored b',
        '12 stored c',
        '12 started d',
        '22 stored d',
      ]);
      expect(out.filter((line) => line.includes('refused'))).toEqual(['e refused queue_full', 'f refused queue_full']);
      expect(counts.captures).toMatchObject({ accepted: 4, stored: 4, refused: 2, inside: 0 });
    });
  });

  it('refuses with the given reason while the service is overloaded', () => {
    virtually(({ cold }, scheduler) => {
      const { pipeline } = rig({ limits: LIMITS, scheduler, perform: () => cold('|') });
      pipeline.setOverload({ reason: 'Memory is short.', maxTaken: 0, minMs: 0 });
      const errors: unknown[] = [];
      pipeline.admit(request('a')).subscribe({ error: (error) => errors.push(error) });
      expect(errors).toMatchObject([{ code: 'queue_full', message: 'Memory is short.' }]);
      pipeline.setOverload(null);
      expect(pipeline.refusal()).toBeUndefined();
    });
  });

  it('announces a capture that its caller refuses', () => {
    virtually(({ cold }, scheduler) => {
      const { pipeline, log, counts } = rig({ limits: LIMITS, scheduler, perform: () => cold('|') });
      const out: string[] = [];
      heard(pipeline.refuse(request('a'), new CapstanError('target_forbidden')), out, 'a');
      expect(out).toEqual(['a refused target_forbidden']);
      expect(log).toEqual(['0 rejected a']);
      expect(counts.captures).toMatchObject({ accepted: 0, rejected: 0, refused: 1 });
    });
  });

  it('continues when an observer of its events throws, and when one of its clients does', async () => {
    const thrown: unknown[] = [];
    const both = new Promise<void>((resolve) => {
      config.onUnhandledError = (error) => {
        thrown.push(error);
        if (thrown.length === 4) {
          resolve();
        }
      };
    });
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, stream, log } = rig({
        limits: LIMITS,
        scheduler,
        perform: (command) => cold('-(s|)', { s: stored(command) }),
      });
      stream.events$.subscribe(() => {
        throw new Error('observer');
      });
      const after: string[] = [];
      stream.events$.subscribe((event) => after.push(event.type));
      pipeline.admit(request('a')).subscribe(() => {
        throw new Error('client');
      });
      flush();
      expect(log).toEqual(['0 queued a', '0 started a', '1 stored a']);
      expect(after).toEqual(['capture.queued', 'capture.started', 'capture.stored']);
      expect(pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
    });
    await both;
    expect(thrown).toContainEqual(new Error('client'));
    expect(thrown).toContainEqual(new Error('observer'));
  });

  it('does not perform a capture that an observer of its start event cancels', () => {
    virtually((_, scheduler) => {
      let performed = 0;
      const { pipeline, stream, log } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: (command) => {
          performed += 1;
          return command.id === 1 ? NEVER : of(stored(command));
        },
      });
      const hang = pipeline.admit(request('a')).subscribe();
      const b = pipeline.admit(request('b')).subscribe();
      stream.events$.subscribe((event) => {
        if (event.type === 'capture.started') {
          b.unsubscribe();
        }
      });
      pipeline.setLimits({ maxConcurrent: 2, maxQueue: 10 });
      expect(performed).toBe(1);
      expect(log.slice(3)).toEqual(['0 started b', '0 cancelled b']);
      hang.unsubscribe();
    });
  });

  it('keeps nothing of 10,000 captures that were queued and then cancelled', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');

    const requests: WeakRef<object>[] = [];
    const { pipeline, counts } = rig({
      limits: { maxConcurrent: 1, maxQueue: 10_000 },
      scheduler: asyncScheduler,
      perform: () => NEVER,
    });
    const running = pipeline.admit(request('running')).subscribe();
    (() => {
      const waiting = Array.from({ length: 10_000 }, (_, i) => {
        const one = request(`w${i}`);
        requests.push(new WeakRef(one));
        return pipeline.admit(one).subscribe();
      });
      expect(pipeline.load).toEqual({ running: 1, queued: 10_000, taken: 10_001 });
      for (const subscription of waiting) {
        subscription.unsubscribe();
      }
    })();
    expect(pipeline.load).toEqual({ running: 1, queued: 0, taken: 1 });
    expect(counts.captures).toMatchObject({ accepted: 10_001, cancelled: 10_000, inside: 1 });
    // A WeakRef keeps its target until the end of the turn in which it was created.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    // The engine may keep one reference in a stack frame; a queue that leaks keeps thousands.
    expect(requests.filter((one) => one.deref() !== undefined).length).toBeLessThan(10);
    running.unsubscribe();
  });
});
