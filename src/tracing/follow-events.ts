import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import type { Observable } from 'rxjs';
import type { CapstanEvent, CaptureEvent, DeliveryEvent } from '../capture/events.ts';
import { CAPTURE_PHASES } from '../capture/phases.ts';
import type { Result } from '../capture/result/result.ts';

/** Maximum number of ended captures and batches that are remembered, because their messages may still be sent. */
const MAX_ENDED = 10_000;

/** A capture that has not ended yet. */
interface Course {
  /** Context of the request that the capture belongs to. */
  readonly parent: Context;
  /** The span `capture`, from admission to the end of the capture. */
  readonly span: Span;
  readonly queue: Span;
  readonly queuedAt: number;
  startedAt: number | undefined;
}

/**
 * Makes spans of events: `message`, and `capture` with the child spans `queue`, one for each phase, and `store`. The
 * phases are added when the capture has ended, because they are known only then. `active` returns the context of the
 * request in which an event is emitted.
 */
export function followEvents(events$: Observable<CapstanEvent>, tracer: Tracer, active: () => Context): void {
  const courses = new Map<number, Course>();
  const contexts = new LRUCache<string, Context>({ max: MAX_ENDED });

  const queued = (event: CaptureEvent): void => {
    // An item of a batch is read when another capture makes room for it, in the context of that capture's request.
    const parent = event.batch === null ? active() : (contexts.get(`batch ${event.batch}`) ?? ROOT_CONTEXT);
    const at = Date.parse(event.at);
    const attributes = { 'capstan.capture.id': event.id, 'capstan.target.host': event.host, ...ofBatch(event.batch) };
    const span = tracer.startSpan('capture', { startTime: at, attributes }, parent);
    const queue = tracer.startSpan('queue', { startTime: at }, trace.setSpan(parent, span));
    courses.set(event.id, { parent, span, queue, queuedAt: at, startedAt: undefined });
  };

  const ended = (event: CaptureEvent, result: Result | null, code: string | null): void => {
    const course = courses.get(event.id);
    if (course === undefined) return;
    courses.delete(event.id);
    const { parent, span, queue, queuedAt, startedAt } = course;
    const context = trace.setSpan(parent, span);
    contexts.set(`capture ${event.id}`, context);
    const at = Date.parse(event.at);
    if (startedAt === undefined) queue.end(at);
    else if (result !== null) spansOf(result, { queuedAt, startedAt, endedAt: at }, tracer, context);
    span.setAttribute('capstan.outcome', event.type.replace('capture.', ''));
    if (code !== null) span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });
    span.end(at);
  };

  const sent = (event: DeliveryEvent, attributes: Attributes): void => {
    const about = event.capture === null ? `batch ${event.batch}` : `capture ${event.capture}`;
    const at = Date.parse(event.at);
    const startTime = event.type === 'message.delivered' ? at - event.duration_ms : at;
    const common = { 'server.address': event.receiver, 'capstan.message.attempts': event.attempts };
    const options = { kind: SpanKind.CLIENT, startTime, attributes: { ...common, ...attributes } };
    const span = tracer.startSpan('message', options, contexts.get(about) ?? ROOT_CONTEXT);
    if (event.type === 'message.failed') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(at);
  };

  events$.subscribe((event) => {
    switch (event.type) {
      case 'capture.queued':
        return queued(event);
      case 'capture.started': {
        const course = courses.get(event.id);
        if (course === undefined) return;
        course.startedAt = Date.parse(event.at);
        course.queue.end(course.startedAt);
        return;
      }
      case 'capture.stored':
        return ended(event, event.result, null);
      case 'capture.failed':
      case 'capture.timed_out':
        return ended(event, event.result, event.failure.code);
      case 'capture.cancelled':
      case 'capture.rejected':
        return ended(event, null, event.failure.code);
      case 'batch.accepted':
        contexts.set(`batch ${event.batch}`, active());
        return;
      case 'message.delivered':
        return sent(event, event.status === null ? {} : { 'http.response.status_code': event.status });
      case 'message.failed':
        return sent(event, { 'error.type': event.cause });
      default:
        // No span is made of the other events.
        return;
    }
  });
}

interface Times {
  readonly queuedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The phases end when the record is made, `duration_ms` after the start; storing the record takes the rest. The target
 * is dialled in the queue, unless the capture waited for less than that takes: a worker of a cluster dials after it.
 */
function spansOf(result: Result, { queuedAt, startedAt, endedAt }: Times, tracer: Tracer, context: Context): void {
  const { dial = 0, ...timings } = result.timings;
  const inQueue = dial <= startedAt - queuedAt;
  if (dial > 0 && inQueue) tracer.startSpan('dial', { startTime: queuedAt }, context).end(queuedAt + dial);
  const spanned: Result['timings'] = inQueue ? timings : result.timings;
  const storedFrom = Math.min(startedAt + result.duration_ms - (inQueue ? dial : 0), endedAt);
  const total = CAPTURE_PHASES.reduce((sum, phase) => sum + (spanned[phase] ?? 0), 0);
  let from = Math.max(startedAt, storedFrom - total);
  for (const phase of CAPTURE_PHASES) {
    const ms = spanned[phase];
    if (ms === undefined) continue;
    const until = Math.min(from + ms, endedAt);
    tracer.startSpan(phase, { startTime: from }, context).end(until);
    from = until;
  }
  tracer.startSpan('store', { startTime: storedFrom }, context).end(endedAt);
}

function ofBatch(batch: string | null): Attributes {
  return batch === null ? {} : { 'capstan.batch.id': batch };
}
