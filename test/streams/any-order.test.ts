import * as fc from 'fast-check';
import {
  defer,
  delay,
  finalize,
  fromEvent,
  map,
  merge,
  NEVER,
  type Observable,
  type SchedulerLike,
  take,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { request, rig, stored, virtually } from './rig.ts';

/** How captures of a host behave. */
const behaviour = fc.record({
  ends: fc.constantFrom('stored', 'throws', 'hangs'),
  takesMs: fc.nat({ max: 40 }),
  /** Duration of the teardown after an abort; null when the abort is ignored. */
  teardownMs: fc.option(fc.nat({ max: 10 })),
});
type Behaviour = typeof behaviour extends fc.Arbitrary<infer B> ? B : never;

const arrival = fc.record({
  at: fc.nat({ max: 60 }),
  /** Size of a batch; null for a single capture. */
  batch: fc.option(fc.nat({ max: 8 })),
  concurrency: fc.integer({ min: 1, max: 4 }),
  cancelledAfterMs: fc.option(fc.nat({ max: 60 })),
});

const change = fc.record({
  at: fc.nat({ max: 60 }),
  maxConcurrent: fc.integer({ min: 1, max: 4 }),
  maxQueue: fc.nat({ max: 4 }),
});

function onPage(command: CaptureCommand, how: Behaviour, scheduler: SchedulerLike): Observable<CaptureOutcome> {
  const ended$ = timer(how.takesMs, scheduler).pipe(
    map(() => {
      if (how.ends === 'throws') {
        throw new Error('broken');
      }
      return stored(command);
    }),
  );
  const torn$ = fromEvent(command.signal, 'abort').pipe(
    delay(how.teardownMs ?? 0, scheduler),
    map(() => {
      throw new CapstanError('cancelled');
    }),
  );
  return merge(how.ends === 'hangs' ? NEVER : ended$, how.teardownMs === null ? NEVER : torn$).pipe(take(1));
}

describe('captures and batches, in random order', () => {
  it('stays within the limits, ends every capture exactly once, and leaves nothing behind', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { maxLength: 12 }),
        fc.array(behaviour, { minLength: 1, maxLength: 8 }),
        fc.array(change, { maxLength: 3 }),
        fc.option(fc.nat({ max: 80 })),
        async (arrivals, behaviours, changes, drainedAt) => {
          const wrong: unknown[] = [];
          let drained: Promise<void> | undefined;
          virtually(({ flush }, scheduler) => {
            let performing = 0;
            let [mostConcurrent, mostInside] = [2, 4];
            const { pipeline, runBatch, stream, counts } = rig({
              limits: { maxConcurrent: 2, maxQueue: 2 },
              scheduler,
              perform: (command) =>
                defer(() => {
                  performing += 1;
                  const how = behaviours[command.id % behaviours.length] ?? {
                    ends: 'hangs',
                    takesMs: 0,
                    teardownMs: 0,
                  };
                  return onPage(command, how, scheduler);
                }).pipe(
                  finalize(() => {
                    performing -= 1;
                  }),
                ),
            });

            const inside = new Set<number>();
            const openBatches = new Set<string>();
            stream.events$.subscribe((event) => {
              seen.add(event.type);
              const { accepted, inside: now, refused, ...exits } = counts.captures;
              if (accepted !== now + Object.values(exits).reduce((sum, count) => sum + count)) {
                wrong.push(['counts', counts.captures]);
              }
              if (event.type === 'capture.queued') {
                inside.add(event.id);
              } else if (event.type === 'batch.accepted') {
                openBatches.add(event.batch);
              } else if (event.type === 'batch.completed' && !openBatches.delete(event.batch)) {
                wrong.push(['completed twice', event]);
              } else if (/^capture\.(stored|failed|timed_out|cancelled)$/.test(event.type) && 'id' in event) {
                if (!inside.delete(event.id) || (event.batch !== null && !openBatches.has(event.batch))) {
                  wrong.push(['ended twice, or after its batch', event]);
                }
              }
            });

            for (const [i, { at, batch, concurrency, cancelledAfterMs }] of arrivals.entries()) {
              scheduler.schedule(() => {
                const items = Array.from({ length: batch ?? 0 }, (_, k) => request(`n${i}x${k}`, 50));
                const work$: Observable<unknown> =
                  batch === null ? pipeline.admit(request(`n${i}`, 50)) : runBatch(items, { concurrency });
                const client = work$.subscribe({ error: () => undefined });
                if (cancelledAfterMs !== null) {
                  scheduler.schedule(() => client.unsubscribe(), cancelledAfterMs);
                }
              }, at);
            }
            for (const { at, ...limits } of changes) {
              scheduler.schedule(() => {
                mostConcurrent = Math.max(mostConcurrent, limits.maxConcurrent);
                mostInside = Math.max(mostInside, limits.maxConcurrent + limits.maxQueue);
                pipeline.setLimits(limits);
              }, at);
            }
            if (drainedAt !== null) {
              scheduler.schedule(() => {
                drained = pipeline.drain(20);
              }, drainedAt);
            }
            for (let at = 0; at < 200; at++) {
              scheduler.schedule(() => {
                const { load } = pipeline;
                const within = load.running <= mostConcurrent && load.taken <= mostInside;
                const exact = load.running === performing && load.running + load.queued === inside.size;
                if (!within || !exact || load.taken < inside.size) {
                  wrong.push([at, load, performing, inside.size]);
                }
              }, at);
            }
            flush();
            expect(wrong).toEqual([]);
            expect(pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
            expect([performing, inside.size, openBatches.size]).toEqual([0, 0, 0]);
          });
          await drained;
        },
      ),
      { numRuns: 300 },
    );
    // The random runs must have produced each of these types of events.
    expect([...seen].sort()).toEqual([
      'batch.accepted',
      'batch.completed',
      'batch.progress',
      'capture.cancelled',
      'capture.failed',
      'capture.queued',
      'capture.rejected',
      'capture.started',
      'capture.stored',
      'capture.timed_out',
    ]);
  });
});
