import { of, type SchedulerLike, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError, failure } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { outlastingOutages } from '../../src/streams/outages.ts';
import { heard, request, rig, stored, virtually } from './rig.ts';

const LIMITS = { maxConcurrent: 1, maxQueue: 10 };

/** Fails with a code until a moment, in virtual milliseconds; then stores. */
function failingUntil(
  code: 'browser_unavailable' | 'storage_full' | 'target_unreachable',
  ms: number,
  now: () => number,
) {
  return (command: CaptureCommand) =>
    of<CaptureOutcome>(now() < ms ? { state: 'failed', failure: failure(code), result: null } : stored(command));
}

describe('outlastingOutages', () => {
  it.each(['browser_unavailable', 'storage_full'] as const)('submits again until %s is over', (code) => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil(code, 3000, () => scheduler.now());
      const { pipeline, log } = rig({ limits: LIMITS, perform, scheduler });
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 60_000, stopping, scheduler });
      const seen: string[] = [];
      heard(submit(request('a')), seen, 'a');
      flush();
      expect(seen).toEqual(['a stored']);
      expect(log.filter((line) => /failed|stored/.test(line))).toEqual([
        '0 failed a',
        '500 failed a',
        '1500 failed a',
        '3500 stored a',
      ]);
    });
  });

  it('submits a capture again that was refused because the work queue of the cluster is away', () => {
    virtually(({ flush }, scheduler) => {
      const { pipeline } = rig({ limits: LIMITS, perform: (command) => of(stored(command)), scheduler });
      const submitWhenThere: typeof pipeline.admit = (capture, under) =>
        scheduler.now() < 3000
          ? throwError(() => new CapstanError('cluster_unavailable'))
          : pipeline.admit(capture, under);
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: submitWhenThere, limitMs: 60_000, stopping, scheduler });
      const seen: string[] = [];
      heard(submit(request('a')), seen, 'a');
      flush();
      expect(seen).toEqual(['a stored']);
      expect(scheduler.now()).toBe(3500);
    });
  });

  it('reports a conclusion for the last attempt only', () => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil('storage_full', 1000, () => scheduler.now());
      const { pipeline, stream } = rig({ limits: LIMITS, perform, scheduler });
      const concluded: string[] = [];
      stream.addressed$.subscribe(({ type, to }) => to && concluded.push(type));
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 60_000, stopping, scheduler });
      heard(submit({ ...request('a'), callback: 'https://receiver.example/' }), [], 'a');
      flush();
      expect(concluded).toEqual(['capture.stored']);
    });
  });

  it('gives up at the limit, with the failure of the outage', () => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil('browser_unavailable', 1_000_000, () => scheduler.now());
      const { pipeline, log } = rig({ limits: LIMITS, perform, scheduler });
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 5_000, stopping, scheduler });
      const seen: string[] = [];
      heard(submit(request('a')), seen, 'a');
      flush();
      expect(seen).toEqual(['a failed']);
      expect(log.filter((line) => line.includes('failed'))).toHaveLength(4);
      expect(scheduler.now()).toBe(3_500);
    });
  });

  /** Returns the time that each attempt has while an outage lasts, in milliseconds; `speed` is that of its clock. */
  function timesOfAttempts(timeoutMs: number, speed = 1): readonly number[] {
    const times: number[] = [];
    virtually(({ flush }, scheduler) => {
      const perform = (command: CaptureCommand) => {
        times.push(command.request.timeoutMs);
        return failingUntil('browser_unavailable', 1_000_000, () => scheduler.now())(command);
      };
      const { pipeline } = rig({ limits: LIMITS, perform, scheduler });
      const clock: SchedulerLike = {
        now: () => speed * scheduler.now(),
        schedule: scheduler.schedule.bind(scheduler),
      };
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, stopping, scheduler: clock });
      heard(submit(request('a', timeoutMs)), [], 'a');
      flush();
    });
    return times;
  }

  it('stays within the deadline of the request, and gives each attempt the remaining time', () => {
    expect(timesOfAttempts(2000)).toEqual([2000, 1500, 500]);
  });

  it('gives the last attempt a little time when the pause before it lasted beyond the deadline', () => {
    expect(timesOfAttempts(700, 2)).toEqual([700, 1]);
  });

  it('passes every other failure on unchanged', () => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil('target_unreachable', 1000, () => scheduler.now());
      const { pipeline, log } = rig({ limits: LIMITS, perform, scheduler });
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 60_000, stopping, scheduler });
      heard(submit(request('a')), [], 'a');
      flush();
      expect(log).toEqual(['0 queued a', '0 started a', '0 failed a']);
    });
  });

  it('refuses waiting captures when the service stops', () => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil('storage_full', 1_000_000, () => scheduler.now());
      const { pipeline } = rig({ limits: LIMITS, perform, scheduler });
      const stop = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 60_000, stopping: stop.signal, scheduler });
      const seen: string[] = [];
      heard(submit(request('a')), seen, 'a');
      scheduler.schedule(() => stop.abort(), 2000);
      flush();
      expect(seen).toEqual(['a refused shutting_down']);
      expect(scheduler.now()).toBe(2000);
    });
  });

  it('stops submitting when its subscriber unsubscribes', () => {
    virtually(({ flush }, scheduler) => {
      const perform = failingUntil('storage_full', 1_000_000, () => scheduler.now());
      const { pipeline, log } = rig({ limits: LIMITS, perform, scheduler });
      const { signal: stopping } = new AbortController();
      const submit = outlastingOutages({ submit: pipeline.admit, limitMs: 60_000, stopping, scheduler });
      const subscription = heard(submit(request('a')), [], 'a');
      scheduler.schedule(() => subscription.unsubscribe(), 600);
      flush();
      expect(log.filter((line) => line.includes('queued'))).toEqual(['0 queued a', '500 queued a']);
    });
  });
});
