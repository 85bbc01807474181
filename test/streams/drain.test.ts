import { NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import type { ItemRequest } from '../../src/streams/batch.ts';
import { handedOut, heard, request, rig, stored, virtually } from './rig.ts';

const requests = (count: number) => Array.from({ length: count }, (_, i) => request(`b${i}`));

describe('draining', () => {
  it('lets admitted work finish, including the rest of a batch, and refuses new work', async () => {
    let drained: Promise<void> | undefined;
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch, counts } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      const out: string[] = [];
      runBatch(requests(4), { concurrency: 1 }).subscribe((item) => out.push(`${item.index} ${item.outcome.state}`));
      heard(pipeline.admit(request('a')), out, 'a');
      drained = pipeline.drain(1000);
      heard(pipeline.admit(request('late')), out, 'late');
      runBatch(requests(1)).subscribe({ error: (error) => out.push(`batch refused ${error.code}`) });
      flush();
      expect(out).toEqual([
        'late refused shutting_down',
        'batch refused shutting_down',
        '0 stored',
        'a stored',
        '1 stored',
        '2 stored',
        '3 stored',
      ]);
      expect(counts.captures).toMatchObject({ accepted: 5, stored: 5, refused: 1, inside: 0 });
    });
    await drained;
  });

  it('does not wait for a batch whose sender is silent, and refuses what it sends later', async () => {
    const sender = handedOut<ItemRequest>();
    const items: string[] = [];
    let drained: Promise<number> | undefined;
    virtually(({ flush }, scheduler) => {
      const { pipeline, runBatch } = rig({
        limits: { maxConcurrent: 2, maxQueue: 0 },
        scheduler,
        perform: (command) => of(stored(command)),
      });
      runBatch(sender.items).subscribe(({ outcome }) =>
        items.push(outcome.state === 'rejected' ? outcome.failure.code : outcome.state),
      );
      drained = pipeline.drain(10_000).then(() => pipeline.load.taken);
      flush();
    });
    expect(await drained).toBe(0);
    await sender.hand(request('late'));
    expect(items).toEqual(['shutting_down']);
  });

  it('cancels what is left with shutting_down when the grace period is over', async () => {
    let drained: Promise<void> | undefined;
    virtually(({ cold, flush }, scheduler) => {
      const reasons: string[] = [];
      const { pipeline, runBatch, log, counts } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: ({ signal }) => {
          signal.addEventListener('abort', () => reasons.push(signal.reason.code));
          return cold('40ms #');
        },
      });
      const outcomes: CaptureOutcome[] = [];
      const items: string[] = [];
      pipeline.admit(request('a')).subscribe((outcome) => outcomes.push(outcome));
      pipeline.admit(request('b')).subscribe((outcome) => outcomes.push(outcome));
      runBatch(requests(3), { concurrency: 1 }).subscribe((item) => items.push(`${item.index} ${item.outcome.state}`));
      drained = pipeline.drain(30);
      flush();
      expect(reasons).toEqual(['shutting_down']);
      expect(outcomes).toMatchObject([
        { state: 'cancelled', failure: { code: 'shutting_down' } },
        { state: 'cancelled', failure: { code: 'shutting_down' } },
      ]);
      expect(items).toEqual(['0 cancelled', '1 rejected', '2 rejected']);
      expect(log.filter((line) => line.includes('started'))).toEqual(['0 started a']);
      expect(log.filter((line) => /cancelled/.test(line))).toEqual([
        '30 cancelled b0',
        '30 cancelled b',
        '40 cancelled a',
      ]);
      expect(pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
      expect(counts.captures).toMatchObject({ accepted: 3, cancelled: 3, refused: 2, inside: 0 });
    });
    await drained;
  });

  it('ends although a capture hangs and a streamed batch is waiting for its sender', async () => {
    let drained: Promise<void> | undefined;
    virtually(({ flush }, scheduler) => {
      const { pipeline, runBatch } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: () => NEVER,
      });
      pipeline.admit(request('hangs')).subscribe();
      runBatch(handedOut<ItemRequest>().items, { concurrency: 2 }).subscribe();
      expect(pipeline.load.taken).toBe(3);
      drained = pipeline.drain(100);
      flush();
      expect(scheduler.now()).toBe(5100);
      expect(pipeline.load.taken).toBe(0);
    });
    await drained;
  });

  it('ends at once when the pipeline is idle', async () => {
    let drained: Promise<void> | undefined;
    virtually((_, scheduler) => {
      drained = rig({ limits: { maxConcurrent: 1, maxQueue: 0 }, scheduler, perform: () => NEVER }).pipeline.drain(
        1000,
      );
    });
    await drained;
  });
});
