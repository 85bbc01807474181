import { EMPTY, mergeMap, of } from 'rxjs';
import { expect, it } from 'vitest';
import { CapstanError } from '../../src/capture/errors.ts';
import { createCapturePipeline } from '../../src/streams/capture-pipeline.ts';
import type { CaptureQueue } from '../../src/streams/capture-queue.ts';
import { createEventStream } from '../../src/streams/events.ts';
import { heard, request, stored } from './rig.ts';

/** A pipeline before a queue outside of this process, which has taken a capture when `taken` resolves. */
function pipelineBefore(taken: Promise<void>) {
  const events = createEventStream();
  const types: string[] = [];
  events.events$.subscribe(({ type }) => types.push(type));
  const leaving: number[] = [];
  const queue: CaptureQueue = {
    enqueue: () => taken,
    each: (work) =>
      mergeMap((capture) => {
        if (!capture.command.signal.aborted) return work(capture);
        leaving.push(capture.command.id);
        return EMPTY;
      }),
    setLimit: () => {},
  };
  const pipeline = createCapturePipeline({
    limits: { maxConcurrent: 1, maxQueue: 1 },
    perform: (command) => of(stored(command)),
    ids: () => 1,
    events,
    report: () => {},
    queue,
  });
  return { pipeline, types, leaving };
}

it('reports a capture as queued once the queue of the cluster has it, and then runs it', async () => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const { pipeline, types } = pipelineBefore(taken);
  const outcomes: string[] = [];
  heard(pipeline.admit(request('a')), outcomes, 'a');
  expect(types).toEqual([]);
  resolve();
  await expect.poll(() => outcomes).toEqual(['a stored']);
  expect(types).toEqual(['capture.queued', 'capture.started', 'capture.stored']);
});

it('refuses a capture that the queue of the cluster refuses, and frees its place', async () => {
  const { pipeline, types } = pipelineBefore(Promise.reject(new CapstanError('queue_full')));
  const outcomes: string[] = [];
  heard(pipeline.admit(request('a')), outcomes, 'a');
  await expect.poll(() => outcomes).toEqual(['a refused queue_full']);
  expect(types).toEqual(['capture.rejected']);
  expect(pipeline.load.taken).toBe(0);
});

it('lets a capture leave the queue of the cluster that was cancelled while the queue took it', async () => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const { pipeline, types, leaving } = pipelineBefore(taken);
  const client = heard(pipeline.admit(request('a')), [], 'a');
  client.unsubscribe();
  resolve();
  await expect.poll(() => leaving).toEqual([1]);
  expect(types).toEqual([]);
  expect(pipeline.load.taken).toBe(0);
});
