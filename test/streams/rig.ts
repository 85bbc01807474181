import type { Observable, ObservableInput, SchedulerLike } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';
import type { CaptureCommand } from '../../src/capture/command.ts';
import type { CapstanEvent } from '../../src/capture/events.ts';
import type { CaptureLimits } from '../../src/capture/operation/limits.ts';
import type { CaptureOutcome } from '../../src/capture/outcome.ts';
import type { CaptureRequest } from '../../src/capture/request.ts';
import { UNSEEN } from '../../src/capture/result/build-result.ts';
import type { Result } from '../../src/capture/result/result.ts';
import { type EventCounts, tallyEvents } from '../../src/metrics/tallies.ts';
import { createBatchRunner, type RunBatch } from '../../src/streams/batch.ts';
import { type CapturePipeline, createCapturePipeline } from '../../src/streams/capture-pipeline.ts';
import { createEventStream, type EventStream } from '../../src/streams/events.ts';
import { captureRequest } from '../support/capture-request.ts';

/** Runs a test in virtual time: one frame of a marble diagram is one millisecond. */
export function virtually(
  test: (run: Parameters<Parameters<TestScheduler['run']>[0]>[0], time: TestScheduler) => void,
) {
  const time = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  time.run((run) => test(run, time));
}

export function request(name: string, timeoutMs = 1000): CaptureRequest {
  return captureRequest(`https://${name}.example/`, { timeoutMs });
}

export function stored(command: Pick<CaptureCommand, 'id' | 'request'>): CaptureOutcome {
  const { id, request } = command;
  const result: Result = {
    ...UNSEEN,
    options_digest: '',
    options: {},
    options_withheld: [],
    id,
    url: request.target.url,
    final_url: request.target.url,
    scheme: 'https',
    host: request.target.host,
    port: 443,
    title: '',
    response_code: 200,
    response_reason: 'OK',
    content_type: 'text/html',
    content_length: 0,
    probed_at: '1970-01-01T00:00:00.000Z',
    duration_ms: 0,
    artifacts: { store: 'here', kinds: ['image'] },
    format: 'png',
    width: 1,
    height: 1,
  };
  return { state: 'stored', result, evidence: null };
}

/** The name that `request` was given. */
export function nameOf(url: string): string {
  return new URL(url).hostname.split('.')[0] ?? '';
}

export interface Rig {
  readonly pipeline: CapturePipeline;
  readonly runBatch: RunBatch;
  readonly stream: EventStream;
  readonly counts: EventCounts;
  /** `<time> <type> <name>`, capture events without their prefix. */
  readonly log: string[];
  readonly reported: unknown[];
}

/** A pipeline over the given `perform`, with a record of its events. */
export function rig(options: {
  readonly limits: CaptureLimits;
  readonly perform: (command: CaptureCommand) => ObservableInput<CaptureOutcome>;
  readonly scheduler: SchedulerLike;
}): Rig {
  const stream = createEventStream();
  const { counts } = tallyEvents(stream.events$);
  const log: string[] = [];
  const reported: unknown[] = [];
  stream.events$.subscribe((event) => log.push(lineOf(event)));
  let id = 0;
  let batch = 0;
  const pipeline = createCapturePipeline({
    ...options,
    ids: () => ++id,
    events: stream,
    report: (error) => reported.push(error),
  });
  const runBatch = createBatchRunner({
    pipeline,
    submit: pipeline.admit,
    events: stream,
    ids: () => `b${++batch}`,
    scheduler: options.scheduler,
  });
  return { pipeline, runBatch, stream, counts, log, reported };
}

/** The state of each outcome, or the code of the error, as they arrive. */
export function heard(outcome$: Observable<CaptureOutcome>, into: string[], name: string) {
  return outcome$.subscribe({
    next: (outcome) => into.push(`${name} ${outcome.state}`),
    error: (error) => into.push(`${name} refused ${error.code}`),
  });
}

function lineOf(event: CapstanEvent): string {
  const at = Date.parse(event.at);
  if ('size' in event) {
    const counts = 'done' in event ? ` ${event.done}/${event.size}, ${event.failed} failed` : ` ${event.size}`;
    return `${at} ${event.type} ${event.batch}${counts}`;
  }
  if ('url' in event) return `${at} ${event.type.replace('capture.', '')} ${nameOf(event.url)}`;
  if ('receiver' in event) return `${at} ${event.type} ${event.receiver}`;
  return `${at} ${event.type} ${'pid' in event ? event.pid : event.accepting}`;
}

/** An async iterable whose items are supplied one by one, and which counts the requests for them. */
export function handedOut<T>() {
  const asked: ((step: IteratorResult<T>) => void)[] = [];
  let handed = 0;
  const answer = async (step: IteratorResult<T>) => {
    asked[handed++]?.(step);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    get asked() {
      return asked.length;
    },
    hand: (value: T) => answer({ done: false, value }),
    end: () => answer({ done: true, value: undefined }),
    items: {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<T>>((resolve) => asked.push(resolve)),
      }),
    },
  };
}
