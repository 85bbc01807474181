import { map, type Observable, Subject } from 'rxjs';
import { iso } from '../capture/basics/values.ts';
import { ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import type { Failure } from '../capture/errors.ts';
import type {
  BatchEvent,
  CapstanEvent,
  CaptureEvent,
  PressureEvent,
  Recipients,
  Unsent,
  UnsentWords,
  WatchEvent,
} from '../capture/events.ts';
import type { DegradedParts, Pressure } from '../capture/operation/pressure.ts';
import type { CaptureOutcome, StoredCapture } from '../capture/outcome.ts';

/** The single event stream that logs, counters, messages and subscribers derive from. */
export interface EventStream {
  /** Hot; never errors. Completes with `complete()`. */
  readonly events$: Observable<CapstanEvent>;
  /** The same events with their receivers (`to`), for the log alone: addresses may hold secrets. */
  readonly addressed$: Observable<CapstanEvent & Unsent>;
  emit(event: CapstanEvent): void;
  /** Emits an event that the operator's receivers and those in `to` get. */
  conclude(event: CaptureEvent | BatchEvent | WatchEvent | PressureEvent, to?: Recipients): void;
  complete(): void;
}

interface Emitted {
  readonly event: CapstanEvent;
  readonly to: Recipients | undefined;
}

/**
 * Delivers the same events in the same order to every observer: an event that is emitted while another is being
 * delivered (by an observer that cancels a capture, for example) waits until all observers have received the first. An
 * exception of an observer reaches `config.onUnhandledError`, as usual in RxJS; the others are not affected.
 */
export function createEventStream(): EventStream {
  const subject = new Subject<Emitted>();
  const pending: Emitted[] = [];
  let emitting = false;

  function handOut(emitted: Emitted): void {
    pending.push(emitted);
    if (emitting) {
      return;
    }
    emitting = true;
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      subject.next(next);
    }
    emitting = false;
  }

  return {
    events$: subject.pipe(map(({ event }) => event)),
    addressed$: subject.pipe(map(({ event, to }) => (to === undefined ? event : { ...event, to }))),
    emit: (event) => handOut({ event, to: undefined }),
    conclude: (event, to = {}) => handOut({ event, to }),
    complete: () => subject.complete(),
  };
}

/** The properties of a command that its events carry. */
type Announced = Pick<CaptureCommand, 'id' | 'request' | 'batch' | 'apiKeyName' | 'requestId'>;

/** `at`: milliseconds since the Unix epoch, in every constructor here. */
export function captureQueued(at: number, command: Announced): CaptureEvent {
  return { ...about(at, command), type: 'capture.queued' };
}

export function captureStarted(at: number, command: Announced, waitedMs: number): CaptureEvent {
  return { ...about(at, command), type: 'capture.started', waited_ms: waitedMs };
}

/** The final event of an admitted capture. */
export function captureEnded(at: number, command: Announced, outcome: CaptureOutcome): CaptureEvent {
  switch (outcome.state) {
    case 'stored':
      return { ...about(at, command), type: 'capture.stored', result: outcome.result, ...unsent(outcome) };
    case 'failed':
    case 'timed_out':
      return {
        ...about(at, command),
        type: `capture.${outcome.state}` as const,
        failure: outcome.failure,
        result: outcome.result,
      };
    case 'rejected':
    case 'cancelled':
      return { ...about(at, command), type: `capture.${outcome.state}` as const, failure: outcome.failure };
  }
}

/** The final event of a capture with a record, whose request is not known any more. */
export function captureFound(at: number, outcome: CaptureOutcome, batch: string | null): CaptureEvent | undefined {
  if (!('result' in outcome) || outcome.result === null) return undefined;
  const { result } = outcome;
  const { id, url, host, labels, api_key_name: key } = result;
  const of = { at: iso(at), id, url, host, batch, ...withLabels(labels), ...ofKey(key) };
  return outcome.state === 'stored'
    ? { ...of, type: 'capture.stored', result, ...unsent(outcome) }
    : { ...of, type: `capture.${outcome.state}`, failure: outcome.failure, result };
}

/** A capture that was never admitted. */
export function captureRefused(at: number, command: Announced, failure: Failure): CaptureEvent {
  return { ...about(at, command), type: 'capture.rejected', failure };
}

/** A request that was refused before it was read, and so has no URL. */
export function unreadRefused(at: number, id: number, failure: Failure): CaptureEvent {
  return { type: 'capture.rejected', at: iso(at), id, url: '', host: '', batch: null, failure };
}

/** A request that was answered with an earlier capture. */
export function captureReused(at: number, asked: Omit<Announced, 'id'>, stored: StoredCapture): CaptureEvent {
  const { result } = stored;
  return { ...about(at, { ...asked, id: result.id }), type: 'capture.reused', result, ...unsent(stored) };
}

/** A batch, and the API key that requested it. */
interface AnnouncedBatch {
  readonly batch: string;
  readonly apiKeyName: string | null;
}

/** Progress of a batch. */
export interface BatchProgress extends AnnouncedBatch {
  /** Requests in the batch; for a streamed batch, requests read so far. */
  readonly size: number;
  /** Finished items. */
  readonly done: number;
  /** Finished items that are not `stored`. */
  readonly failed: number;
}

export function batchAccepted(
  at: number,
  { batch, apiKeyName }: AnnouncedBatch,
  size: number,
  concurrency: number,
): BatchEvent {
  return { type: 'batch.accepted', at: iso(at), batch, ...ofKey(apiKeyName), size, concurrency };
}

export function batchProgressed(at: number, { apiKeyName, ...progress }: BatchProgress): BatchEvent {
  return { type: 'batch.progress', at: iso(at), ...progress, ...ofKey(apiKeyName) };
}

export function batchCompleted(at: number, { apiKeyName, ...progress }: BatchProgress): BatchEvent {
  return { type: 'batch.completed', at: iso(at), ...progress, ...ofKey(apiKeyName) };
}

/** Whether the service accepts new work, or which of its parts can be used, has changed. */
export function pressureChanged(
  at: number,
  { cluster: _cluster, ...pressure }: Pressure,
  degraded: DegradedParts,
): PressureEvent {
  return { type: 'pressure.changed', at: iso(at), ...pressure, degraded };
}

/** Returns what filters of events know of a stored capture. */
function unsent({ words }: UnsentWords): UnsentWords {
  return words === undefined ? {} : { words };
}

function about(at: number, { id, request, batch, apiKeyName, requestId }: Announced) {
  const { target, labels = [] } = request;
  const { url, host } = target;
  const ofRequest = requestId === null ? {} : { request_id: requestId };
  return { at: iso(at), id, url, host, batch, ...ofRequest, ...withLabels(labels), ...ofKey(apiKeyName) };
}

function withLabels(labels: readonly string[]) {
  return labels.length === 0 ? {} : { labels };
}
