import { NEVER, of, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { CapstanError, failure } from '../../src/capture/errors.ts';
import type { BatchItem, CaptureOutcome } from '../../src/capture/outcome.ts';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { createBatchRunner } from '../../src/streams/batch.ts';
import { reusing } from '../../src/streams/reuse.ts';
import { handedOut, heard, nameOf, request, rig, stored, virtually } from './rig.ts';

const requests = (count: number) => Array.from({ length: count }, (_, i) => request(`b${i}`));
const brief = ({ index, url, outcome }: BatchItem) => `${index} ${nameOf(url)} ${outcome.state}`;
const startsAndEnds = (log: readonly string[]) => log.filter((line) => / (started|stored) /.test(line));

describe('batch', () => {
  it('never has more captures admitted than its concurrency, and emits each item as soon as it is finished', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch, log } = rig({
        limits: { maxConcurrent: 4, maxQueue: 10 },
        scheduler,
        // The first capture takes longest.
        perform: (command) => cold(command.id === 1 ? '7ms (s|)' : '3ms (s|)', { s: stored(command) }),
      });
      const items: string[] = [];
      const most = { inside: 0 };
      runBatch(requests(4), { concurrency: 2 }).subscribe({
        next: (item) => items.push(`${scheduler.now()}: ${brief(item)}`),
        complete: () => items.push(`${scheduler.now()}: completed`),
      });
      for (let at = 0; at < 10; at++) {
        scheduler.schedule(() => {
          most.inside = Math.max(most.inside, pipeline.load.running + pipeline.load.queued);
        }, at);
      }
      flush();
      expect(most.inside).toBe(2);
      expect(items).toEqual(['3: 1 b1 stored', '6: 2 b2 stored', '7: 0 b0 stored', '9: 3 b3 stored', '9: completed']);
      expect(log.filter((line) => line.includes('batch'))).toEqual([
        '0 batch.accepted b1 4',
        '3 batch.progress b1 1/4, 0 failed',
        '6 batch.progress b1 2/4, 0 failed',
        '7 batch.progress b1 3/4, 0 failed',
        '9 batch.progress b1 4/4, 0 failed',
        '9 batch.completed b1 4/4, 0 failed',
      ]);
    });
  });

  it('takes turns with single captures', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch, log } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      runBatch(requests(6)).subscribe();
      scheduler.schedule(() => {
        pipeline.admit(request('s0')).subscribe();
        pipeline.admit(request('s1')).subscribe();
      }, 1);
      flush();
      const started = log.filter((line) => line.includes('started'));
      expect(started).toEqual([
        '0 started b0',
        '0 started b1',
        '5 started s0',
        '5 started s1',
        '10 started b2',
        '10 started b3',
        '15 started b4',
        '15 started b5',
      ]);
    });
  });

  it('turns every failure into an item: a failed capture, a refused target, an invalid item', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, stream } = rig({
        limits: { maxConcurrent: 4, maxQueue: 10 },
        scheduler,
        perform: (command) =>
          nameOf(command.request.target.url) === 'broken'
            ? throwError(() => new CapstanError('target_unreachable'))
            : cold('-(s|)', { s: stored(command) }),
      });
      const runBatch = createBatchRunner({
        pipeline,
        submit: (one, under) =>
          nameOf(one.target.url) === 'forbidden'
            ? throwError(() => new CapstanError('target_forbidden'))
            : pipeline.admit(one, under),
        events: stream,
        ids: () => 'b',
        scheduler,
      });
      const items: BatchItem[] = [];
      const bad = { url: 'nonsense', failure: failure('invalid_request', 'No URL.') };
      runBatch([request('broken'), request('forbidden'), bad, request('good')]).subscribe((item) => items.push(item));
      flush();
      expect(items).toMatchObject([
        { index: 0, outcome: { state: 'failed', failure: { code: 'target_unreachable' } } },
        { index: 1, outcome: { state: 'rejected', failure: { code: 'target_forbidden' } } },
        { index: 2, url: 'nonsense', outcome: { state: 'rejected', failure: { code: 'invalid_request' } } },
        { index: 3, outcome: { state: 'stored' } },
      ]);
      expect(pipeline.load.taken).toBe(0);
    });
  });

  it('completes every item of an admitted batch, and reserves no more slots than are free', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch } = rig({
        limits: { maxConcurrent: 2, maxQueue: 1 },
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      pipeline.admit(request('s')).subscribe();
      const out: string[] = [];
      runBatch(requests(5), { concurrency: 8 }).subscribe((item) => out.push(item.outcome.state));
      expect(pipeline.load.taken).toBe(3);
      heard(pipeline.admit(request('t')), out, 't');
      runBatch(requests(1)).subscribe({ error: (error) => out.push(`batch refused ${error.code}`) });
      flush();
      expect(out).toEqual(['t refused queue_full', 'batch refused queue_full', ...Array(5).fill('stored')]);
      expect(pipeline.load.taken).toBe(0);
    });
  });

  it('cancels everything left when it is unsubscribed from, and completes when the last capture has ended', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch, log } = rig({
        limits: { maxConcurrent: 1, maxQueue: 10 },
        scheduler,
        perform: () => cold<never>('9ms #'),
      });
      pipeline.admit(request('s')).subscribe();
      const batch = runBatch(requests(100), { concurrency: 3 }).subscribe();
      scheduler.schedule(() => batch.unsubscribe(), 10);
      flush();
      expect(log).toEqual([
        '0 queued s',
        '0 started s',
        '0 batch.accepted b1 100',
        '0 queued b0',
        '9 failed s',
        '9 started b0',
        '18 cancelled b0',
        '18 batch.completed b1 0/100, 0 failed',
      ]);
    });
  });

  it('fails with the error of its source, cancels running captures, and still emits batch.completed', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { pipeline, runBatch, log, counts } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: (command) =>
          cold(nameOf(command.request.target.url) === 'a' ? '4ms (s|)' : '9ms (s|)', { s: stored(command) }),
      });
      function* source() {
        yield request('a');
        yield request('b');
        throw new Error('cut off');
      }
      const out: unknown[] = [];
      runBatch(source(), { concurrency: 2 }).subscribe({
        next: (item) => out.push(brief(item)),
        error: (error) => out.push(error),
      });
      flush();
      expect(out).toEqual(['0 a stored', new Error('cut off')]);
      expect(log.at(-1)).toBe('9 batch.completed b1 1/2, 0 failed');
      expect(pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
      expect(counts.batches).toEqual({ accepted: 1, completed: 1 });
    });
  });

  it('completes without items when it is empty', () => {
    virtually((_, scheduler) => {
      const { runBatch, log, pipeline } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: () => NEVER,
      });
      let completed = false;
      runBatch([]).subscribe({
        complete: () => {
          completed = log.at(-1) === '0 batch.completed b1 0/0, 0 failed';
        },
      });
      expect(completed).toBe(true);
      expect(log).toEqual(['0 batch.accepted b1 0', '0 batch.completed b1 0/0, 0 failed']);
      expect(pipeline.load.taken).toBe(0);
    });
  });

  it('reads a streamed batch only as far as it has free places', () => {
    virtually(({ cold, flush }, scheduler) => {
      const { runBatch, log } = rig({
        limits: { maxConcurrent: 3, maxQueue: 10 },
        scheduler,
        perform: (command) => cold('5ms (s|)', { s: stored(command) }),
      });
      let read = 0;
      function* streamed() {
        for (; read < 10; read++) {
          yield request(`b${read}`);
        }
      }
      runBatch(streamed(), { concurrency: 2 }).subscribe();
      scheduler.schedule(() => expect(read).toBe(3), 7);
      flush();
      expect(startsAndEnds(log)).toHaveLength(20);
      expect(log.at(-1)).toBe('25 batch.completed b1 10/10, 0 failed');
    });
  });

  it('processes 5,000 captures that end as soon as they start', () => {
    virtually(({ flush }, scheduler) => {
      const { runBatch, pipeline, counts } = rig({
        limits: { maxConcurrent: 2, maxQueue: 10 },
        scheduler,
        perform: (command) => of(stored(command)),
      });
      let items = 0;
      runBatch(requests(5_000)).subscribe(() => items++);
      flush();
      expect(items).toBe(5_000);
      expect(pipeline.load.taken).toBe(0);
      expect(counts.captures).toMatchObject({ accepted: 5_000, stored: 5_000, inside: 0 });
    });
  });

  it('begins no waiting item when the client of the batch disconnects', async () => {
    const time = new TestScheduler(() => true);
    time.maxFrames = 10_000;
    const { pipeline, runBatch, log } = rig({
      limits: { maxConcurrent: 2, maxQueue: 0 },
      scheduler: time,
      perform: () => NEVER,
    });
    const list = handedOut<CaptureRequest>();
    const batch = runBatch(list.items, { concurrency: 2 }).subscribe();
    // It gives its places back, and another capture takes one of them.
    time.flush();
    pipeline.admit(request('busy')).subscribe();
    await list.hand(request('running'));
    await list.hand(request('waiting'));
    const before = log.length;
    batch.unsubscribe();
    time.flush();
    expect(log.slice(before).map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'cancelled running',
      'batch.completed b1 0/2, 0 failed',
    ]);
    expect(pipeline.load.taken).toBe(1);
  });

  it('lets a request that joined a waiting item be captured when the client of the batch disconnects', async () => {
    const time = new TestScheduler(() => true);
    time.maxFrames = 10_000;
    const busy = new Subject<CaptureOutcome>();
    const { pipeline, stream } = rig({
      limits: { maxConcurrent: 1, maxQueue: 0 },
      scheduler: time,
      perform: (command) => (nameOf(command.request.target.url) === 'busy' ? busy : of(stored(command))),
    });
    const submit = reusing({
      capture: pipeline.admit,
      find: async () => undefined,
      keyOf: ({ target }) => target.url,
      events: stream,
    });
    const runBatch = createBatchRunner({ pipeline, submit, events: stream, ids: () => 'b', scheduler: time });
    const list = handedOut<CaptureRequest>();
    const batch = runBatch(list.items, { concurrency: 1 }).subscribe();
    // It gives its place back, which another capture takes.
    time.flush();
    pipeline.admit(request('busy')).subscribe();
    const shared = { ...request('shared'), cacheMaxAgeMs: 60_000 };
    await list.hand(shared);
    const log: string[] = [];
    heard(submit(shared), log, 'joined');
    batch.unsubscribe();
    busy.next(stored({ id: 1, request: request('busy') }));
    busy.complete();
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(['joined stored']);
    expect(pipeline.load.taken).toBe(0);
  });
});
