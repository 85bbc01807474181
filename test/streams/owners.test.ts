import { map, type Subscription, timer, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CapstanEvent } from '../../src/capture/events.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { createRateLimits } from '../../src/http/keys/rate-limits.ts';
import { createAdmission } from '../../src/streams/admission.ts';
import { createCapturePipeline } from '../../src/streams/capture-pipeline.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { captureRequest } from '../support/capture-request.ts';

const CAPTURE_MS = 250;
const SECONDS = 300;
const PER_MINUTE = 150;

/** Returns the p95 wait of captures of owner `b`, in virtual milliseconds, while `a` sends `multiple` times as many. */
function p95Wait(multiple: number): { readonly wait: number; readonly refused: number } {
  const scheduler = new VirtualTimeScheduler(undefined, Number.POSITIVE_INFINITY);
  const events = createEventStream();
  const waits: number[] = [];
  const rates = createRateLimits(() => scheduler.now());
  let refused = 0;
  let ids = 0;
  const failed: CaptureOutcome = { state: 'failed', failure: { code: 'target_unreachable', reason: '' }, result: null };
  const pipeline = createCapturePipeline({
    limits: { maxConcurrent: 2, maxQueue: 100 },
    perform: () => timer(CAPTURE_MS, scheduler).pipe(map(() => failed)),
    ids: () => {
      ids += 1;
      return ids;
    },
    events,
    report: () => undefined,
    scheduler,
  });
  const started = (event: CapstanEvent): void => {
    if (event.type === 'capture.started' && event.host === 'b.example') waits.push(event.waited_ms);
  };
  const listening: Subscription = events.events$.subscribe(started);
  const send = (owner: string, everyMs: number, random: () => number): void => {
    const request = captureRequest(`https://${owner}.example/`);
    const next = (): void => {
      if (scheduler.now() > SECONDS * 1000) return;
      timer(-Math.log(1 - random()) * everyMs, scheduler).subscribe(next);
      if (owner === 'a' && rates.take(owner, PER_MINUTE, 1).retryAfterSeconds > 0) return;
      pipeline.admit(request, { owner }).subscribe({
        error: (error) => {
          refused += error instanceof CapstanError && owner === 'b' ? 1 : 0;
        },
      });
    };
    next();
  };
  send('a', 60_000 / PER_MINUTE / multiple, numbers(1));
  send('b', 60_000 / PER_MINUTE, numbers(2));
  scheduler.flush();
  listening.unsubscribe();
  const sorted = waits.toSorted((x, y) => x - y);
  return { wait: sorted[Math.floor(sorted.length * 0.95)] ?? 0, refused };
}

/** A linear congruential generator: the same arrivals in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe('captures of several owners', () => {
  it('keeps the p95 wait of one owner below twice its usual value while another sends ten times its rate', () => {
    const usual = p95Wait(1);
    const flooded = p95Wait(10);
    expect(usual.wait).toBeGreaterThan(0);
    expect(flooded.wait).toBeLessThan(2 * usual.wait);
    expect(flooded.refused).toBe(0);
  });

  it('refuses an owner that has as many captures admitted as there are free places in the queue', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 10 }, () => 0);
    const admitted = (owner: string | null) => {
      let count = 0;
      while (admission.admit(owner) !== undefined) count += 1;
      return count;
    };
    expect(admitted('greedy')).toBe(6);
    expect(admission.refusal('greedy')?.message).toBe(
      'The share of the queue is full: 6 captures of the API key greedy are admitted, 6 places are left for other keys.',
    );
    expect(admission.refusal()).toBeUndefined();
    expect(admitted('other')).toBe(3);
    expect(admitted('third')).toBeGreaterThanOrEqual(1);
    expect(admitted(null)).toBeGreaterThanOrEqual(1);
    expect(admission.refusal()?.code).toBe('queue_full');
  });

  it('lets captures without an owner use the whole queue', () => {
    const admission = createAdmission({ maxConcurrent: 2, maxQueue: 10 }, () => 0);
    for (let i = 0; i < 12; i += 1) expect(admission.admit()).toBeDefined();
    expect(admission.admit()).toBeUndefined();
  });
});
