import { setImmediate as nextTurn } from 'node:timers/promises';
import { delay, lastValueFrom, of, type SchedulerLike, tap, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import { CapstanError, failure } from '../../src/capture/errors.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import { createBatchRunner } from '../../src/streams/batch.ts';
import { createCapturePipeline } from '../../src/streams/capture-pipeline.ts';
import { createDialStage, type Dialling } from '../../src/streams/dial-stage.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { nameOf, request, stored } from './rig.ts';

const DEAD: CaptureOutcome = { state: 'failed', failure: failure('target_unreachable'), result: null };
const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, at) => request(`${prefix}${at}`));

/**
 * Batches whose targets are dead when their name begins with `dead`, and never answer when it begins with `silent`.
 * `record`: settles once the record of a dead target is stored, or is not.
 */
function rig(limits = { maxConcurrent: 4, maxQueue: 1000 }, scheduler?: SchedulerLike, record?: Promise<void>) {
  let most = 0;
  let running = 0;
  let closed = 0;
  let dialled = 0;
  let ids = 0;
  const dial: Dialling['dial'] = async ({ request, signal }) => {
    const name = nameOf(request.target.url);
    dialled += 1;
    if (name.startsWith('silent')) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (name.startsWith('dead')) return { outcome: Promise.resolve(record).then(() => DEAD) };
    const close = () => {
      closed += 1;
    };
    return { ms: 1, take: () => undefined, close };
  };
  const perform = (command: CaptureCommand) => {
    running += 1;
    most = Math.max(most, running);
    const outcome = { ...stored(command) };
    return of(outcome).pipe(delay(1), (source) => {
      source.subscribe({ complete: () => (running -= 1) });
      return source;
    });
  };
  const events = createEventStream();
  const types: string[] = [];
  events.events$.subscribe(({ type }) => types.push(type));
  const reported: unknown[] = [];
  const pipeline = createCapturePipeline({
    limits,
    ids: () => ++ids,
    events,
    perform,
    report: (error) => reported.push(error),
    dialling: { stage: createDialStage(256), applies: () => true, dial },
  });
  const runBatch = createBatchRunner({
    pipeline,
    submit: pipeline.admit,
    events,
    ids: () => 'b',
    ...(scheduler && { scheduler }),
  });
  return {
    pipeline,
    runBatch,
    types,
    reported,
    get most() {
      return most;
    },
    get dialled() {
      return dialled;
    },
    get closed() {
      return closed;
    },
  };
}

describe('a batch whose targets are dialled', () => {
  it('captures at most its concurrency at once, and answers for each item once', async () => {
    const one = rig();
    const list = [...numbered(20, 'dead'), ...numbered(10, 'page'), ...numbered(20, 'dead')];
    const items = await lastValueFrom(one.runBatch(list, { concurrency: 2 }).pipe(toArray()));
    expect(items.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(list.map((_, at) => at));
    expect(items.filter(({ outcome }) => outcome.state === 'stored').length).toBe(10);
    expect(one.most).toBeLessThanOrEqual(2);
    expect(one.closed).toBe(10);
    expect(one.pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
  });

  it('reads a few targets in each turn of the event loop, however wide it is', async () => {
    const time = new TestScheduler(() => true);
    const one = rig({ maxConcurrent: 64, maxQueue: 1000 }, time);
    const batch = one.runBatch(numbered(100, 'dead'), { concurrency: 64 }).subscribe();
    expect(one.dialled).toBe(4);
    time.maxFrames = 100;
    time.flush();
    expect(one.dialled).toBe(64);
    batch.unsubscribe();
  });

  it('finds the living among those that never answer, however few it captures at once', async () => {
    const { runBatch, pipeline } = rig();
    const found: string[] = [];
    const batch = runBatch([...numbered(40, 'silent'), ...numbered(3, 'page')], { concurrency: 1 }).subscribe(
      ({ url }) => {
        found.push(nameOf(url));
      },
    );
    await expect.poll(() => found.length, { timeout: 60_000 }).toBe(3);
    batch.unsubscribe();
    await expect.poll(() => pipeline.load).toEqual({ running: 0, queued: 0, taken: 0 });
  });

  it('dials further targets of a host while the records of dead ones are stored, and answers after that', async () => {
    const record = Promise.withResolvers<void>();
    const one = rig(undefined, undefined, record.promise);
    const list = Array.from({ length: 40 }, (_, at) => request(`dead/${at}`));
    let answered = 0;
    const batch = lastValueFrom(one.runBatch(list, { concurrency: 2 }).pipe(tap(() => (answered += 1))));
    await expect.poll(() => one.dialled, { timeout: 60_000 }).toBe(40);
    expect([answered, one.pipeline.load.queued]).toEqual([0, 40]);
    record.resolve();
    await batch;
    expect([answered, one.pipeline.load.queued]).toEqual([40, 0]);
  });

  it('ends with the outcome that was being stored when its client left, and keeps its place until then', async () => {
    const record = Promise.withResolvers<void>();
    const { pipeline, types } = rig(undefined, undefined, record.promise);
    const client = pipeline.admit(request('dead')).subscribe();
    await nextTurn();
    client.unsubscribe();
    expect(pipeline.load.taken).toBe(1);
    const drained = pipeline.drain(60_000);
    record.resolve();
    await drained;
    expect(types).toEqual(['capture.queued', 'capture.started', 'capture.failed']);
  });

  it.each([
    ['reports an unexpected error', new Error('broken'), 'internal', 1],
    ['reports no error that its client gets', new CapstanError('database_unavailable'), 'database_unavailable', 0],
  ])('%s when the record of a dead target cannot be stored', async (_what, error, code, times) => {
    const record = Promise.withResolvers<void>();
    const { pipeline, reported } = rig(undefined, undefined, record.promise);
    const outcome = lastValueFrom(pipeline.admit(request('dead')));
    record.reject(error);
    expect(await outcome).toMatchObject({ state: 'failed', failure: { code } });
    expect(reported).toEqual(Array.from({ length: times }, () => error));
  });

  it('keeps its places while its targets are dialled', async () => {
    const time = new TestScheduler(() => true);
    time.maxFrames = 10_000;
    const { pipeline, runBatch, types } = rig({ maxConcurrent: 4, maxQueue: 10 }, time);
    const batch = runBatch([request('silent'), request('silent')], { concurrency: 2 }).subscribe();
    await expect.poll(() => pipeline.load.taken).toBe(2);
    time.flush();
    expect(pipeline.load.taken).toBe(2);
    batch.unsubscribe();
    await expect.poll(() => pipeline.load.taken).toBe(0);
    const ofCaptures = types.filter((type) => type.startsWith('capture.'));
    expect(ofCaptures).toEqual(['capture.queued', 'capture.queued', 'capture.cancelled', 'capture.cancelled']);
  });

  it('leaves half of the queue to others, and needs no queue', async () => {
    const { runBatch, pipeline } = rig({ maxConcurrent: 2, maxQueue: 0 });
    const items = lastValueFrom(
      runBatch([...numbered(20, 'dead'), ...numbered(3, 'page')], { concurrency: 1 }).pipe(toArray()),
    );
    expect(pipeline.load.taken).toBe(1);
    expect((await items).length).toBe(23);
  });
});
