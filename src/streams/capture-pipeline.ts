import {
  asyncScheduler,
  defer,
  filter,
  firstValueFrom,
  fromEvent,
  ignoreElements,
  last,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  race,
  type SchedulerLike,
  Subject,
  take,
  tap,
  timer,
} from 'rxjs';
import { type Client, ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import type { InFlight } from '../capture/in-flight.ts';
import type { CaptureLimits } from '../capture/limits.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { Overload } from '../capture/pressure.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { createAdmission } from './admission.ts';
import type { BatchTicket, Pass } from './batch-ticket.ts';
import {
  captureEnded,
  captureQueued,
  captureRefused,
  captureStarted,
  type EventStream,
  unreadRefused,
} from './events.ts';
import { outcomeOfAbort } from './outcome.ts';
import { type Perform, performed } from './performance.ts';
import { createLocalTurns, type Turns } from './turns.ts';

export interface CapturePipelineOptions {
  readonly limits: CaptureLimits;
  readonly perform: Perform;
  /** Generates the id of a new capture. */
  readonly ids: () => number;
  readonly events: EventStream;
  /** Reports errors that clients do not get: the error behind an `internal`, and a `perform` that was given up. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
  /** All timers, and the clock of the events. */
  readonly scheduler?: SchedulerLike;
  /** Milliseconds after the request's deadline before `perform` is aborted. */
  readonly graceMs?: number;
  /** Milliseconds after an abort before the slot of `perform` is given to the next capture. */
  readonly teardownMs?: number;
  /** Decides when admitted captures start. @default A limiter in this process. */
  readonly turns?: Turns;
  /** Maximum time in the queue in milliseconds, after which a capture is `timed_out`. @default unlimited */
  readonly maxWaitMs?: number;
}

/** The client that the capture is made for, and how. Clients (`owner`) take turns and share the queue. */
export interface SubmitOptions extends Partial<Client> {
  readonly batch?: string | null;
  /** Id of the request that waits for the outcome. */
  readonly requestId?: string;
  /** Ticket of the batch. With it, the capture is not admitted on its own. */
  readonly ticket?: BatchTicket;
  /**
   * Returns false for an outcome after which the caller submits the capture again: it emits an event, but no
   * conclusion.
   */
  readonly isFinal?: (outcome: CaptureOutcome) => boolean;
}

/** Current numbers of captures. */
export interface Load {
  readonly running: number;
  readonly queued: number;
  /** Places in use: running, queued, and reserved by batches. */
  readonly inside: number;
}

export interface CapturePipeline {
  /**
   * Submits one capture. Cold; unsubscribing cancels it, queued or running. Emits one outcome and completes. Errors
   * with a `CapstanError` when it is not admitted: `queue_full` (with `retryAfterSeconds`) or `shutting_down`.
   */
  submit(request: CaptureRequest, options?: SubmitOptions): Observable<CaptureOutcome>;
  /** Emits the event of a capture that the caller refuses, and errors with the reason. Cold. */
  refuse(request: CaptureRequest, error: CapstanError, options?: SubmitOptions): Observable<never>;
  /**
   * Admits a batch; throws the errors of `submit`. `onReturned` is called once the ticket was released and all its
   * captures have ended.
   */
  admitBatch(wanted: number, onReturned: () => void, owner?: string | null): BatchTicket;

  readonly limits: CaptureLimits;
  /** Changes the limits at once. No admitted capture is lost or restarted. */
  setLimits(limits: CaptureLimits): void;
  /** Refuses new work with `queue_full` and this reason, until it is called with null. */
  setOverload(overload: Overload | null): void;
  readonly load: Load;
  /** Generates the captures without an outcome, in the order of their admission. */
  inFlight(): Generator<InFlight, void, undefined>;
  /** Returns why a capture submitted now would be refused; undefined when it would be admitted. */
  refusal(): CapstanError | undefined;
  /** Returns the same as `refusal`, and emits the event of a request that is refused before it is read. */
  refuseUnread(): CapstanError | undefined;

  /**
   * Refuses new work. Admitted work, including the rest of batches, has `graceMs` to end and is then cancelled with
   * `shutting_down`. Resolves when nothing is left, at the latest after `graceMs` and the time for teardown.
   */
  drain(graceMs: number): Promise<void>;
}

/** Backstop for the actors' own deadlines. Normally it is never reached. */
const GRACE_MS = 5_000;
/**
 * Disposing of a browser context takes milliseconds; after this time the browser hangs, and its actor replaces it.
 */
const TEARDOWN_MS = 5_000;

/** A command in the pipeline, with its pass and outcome. */
interface Job {
  readonly command: CaptureCommand;
  readonly pass: Pass;
  readonly owner: string | null;
  queuedAt: number;
  readonly abort: (reason: CapstanError) => void;
  readonly settle: (outcome: CaptureOutcome) => void;
  readonly isFinal: (outcome: CaptureOutcome) => boolean;
  readonly requestId: string | null;
  /** Time of the start; undefined in the queue. */
  startedAt: number | undefined;
  phase: CapturePhase | null;
}

export function createCapturePipeline(options: CapturePipelineOptions): CapturePipeline {
  const { perform, ids, events, report, scheduler = asyncScheduler } = options;
  const { graceMs = GRACE_MS, teardownMs = TEARDOWN_MS, maxWaitMs } = options;
  let limits = options.limits;
  const now = () => scheduler.now();
  const admission = createAdmission(limits, now);
  const turns = options.turns ?? createLocalTurns(limits.maxConcurrent);
  const jobs = new Set<Job>();
  const jobs$ = new Subject<Job>();

  const refuse: CapturePipeline['refuse'] = (request, error, { batch = null, apiKeyName = null } = {}) =>
    new Observable<never>((subscriber) => {
      const refused = captureRefused(now(), { id: ids(), request, batch, apiKeyName }, toFailure(error));
      // Refusals within an admitted batch are bounded, so each emits an event. The caller emits those of all others.
      if (batch === null) events.emit(refused);
      else events.conclude(refused, request.callback);
      subscriber.error(error);
    });

  const submit: CapturePipeline['submit'] = (
    request,
    { batch = null, requestId = null, ticket, owner = null, apiKeyName = null, isFinal = () => true } = {},
  ) =>
    new Observable<CaptureOutcome>((subscriber) => {
      const id = ids();
      const pass = ticket === undefined ? admission.admit(owner) : ticket.lend();
      if (pass === undefined) {
        // A ticket lends a pass for every claim until it is revoked.
        const error = (ticket === undefined && admission.refusal(owner)) || new CapstanError('shutting_down');
        events.emit(captureRefused(now(), { id, request, batch, apiKeyName }, toFailure(error)));
        subscriber.error(error);
        return;
      }
      const controller = new AbortController();
      const job: Job = {
        command: {
          id,
          request,
          batch,
          apiKeyName,
          signal: controller.signal,
          onPhase: (phase) => {
            job.phase = phase;
          },
        },
        pass,
        owner,
        queuedAt: now(),
        abort: (reason) => controller.abort(reason),
        isFinal,
        settle: (outcome) => {
          subscriber.next(outcome);
          subscriber.complete();
        },
        requestId,
        startedAt: undefined,
        phase: null,
      };
      jobs.add(job);
      const queued = (): void => {
        job.queuedAt = now();
        events.emit(captureQueued(job.queuedAt, job.command));
        jobs$.next(job);
      };
      const refused = (thrown: unknown): void => {
        jobs.delete(job);
        pass.release();
        const error =
          thrown instanceof CapstanError ? thrown : new CapstanError('internal', undefined, { cause: thrown });
        if (error.code === 'internal') report(thrown, job.command);
        // A client that has disconnected gets no answer, and its capture was never queued.
        if (error.code !== 'cancelled') events.emit(captureRefused(now(), job.command, toFailure(error)));
        subscriber.error(error);
      };
      if (turns.enqueue === undefined) queued();
      else {
        turns
          .enqueue(job.command, ticket !== undefined)
          .then(() => (controller.signal.aborted ? refused(controller.signal.reason) : queued()), refused);
      }

      return () => {
        // A capture that has ended must not be aborted.
        if (jobs.has(job)) {
          job.abort(new CapstanError('cancelled'));
        }
      };
    });

  /**
   * Runs a capture from the queue to the outcome. The final event is emitted while the slot is held, and the outcome is
   * delivered when the slot is free.
   */
  const work = (job: Job): Observable<CaptureOutcome> => {
    const { command } = job;
    const announce = tap((outcome: CaptureOutcome) => {
      const ended = captureEnded(now(), command, outcome);
      if (job.isFinal(outcome)) events.conclude(ended, command.request.callback);
      else events.emit(ended);
    });

    const running$ = defer(() => {
      const startedAt = now();
      job.startedAt = startedAt;
      events.emit(captureStarted(startedAt, command, startedAt - job.queuedAt));
      return command.signal.aborted
        ? of(outcomeOfAbort(command.signal))
        : performed(command, { perform, abort: job.abort, graceMs, teardownMs, scheduler, report });
    }).pipe(announce);

    const cancelledInLine$ = fromEvent(command.signal, 'abort').pipe(
      filter(() => job.startedAt === undefined),
      map(() => outcomeOfAbort(command.signal)),
      announce,
    );
    const worked$ = race(cancelledInLine$.pipe(take(1)), running$.pipe(turns.through(command, job.owner))).pipe(last());
    if (maxWaitMs === undefined) return worked$;
    const waitedTooLong$ = timer(maxWaitMs, scheduler).pipe(
      filter(() => job.startedAt === undefined),
      tap(() => job.abort(new CapstanError('capture_timeout', `The capture was not started within ${maxWaitMs} ms.`))),
      ignoreElements(),
    );
    return merge(worked$, waitedTooLong$).pipe(take(1));
  };

  const refusal = (): CapstanError | undefined => admission.refusal() ?? turns.refusal?.();

  jobs$.pipe(mergeMap((job) => work(job).pipe(map((outcome) => ({ job, outcome }))))).subscribe(({ job, outcome }) => {
    jobs.delete(job);
    job.pass.release();
    job.settle(outcome);
  });

  return {
    submit,
    refuse,
    admitBatch(wanted, onReturned, owner = null) {
      const ticket = admission.admitBatch(wanted, onReturned, owner);
      if (ticket === undefined) {
        throw admission.refusal(owner) ?? new CapstanError('queue_full');
      }
      return ticket;
    },
    refusal,
    refuseUnread() {
      const error = refusal();
      if (error !== undefined) events.emit(unreadRefused(now(), ids(), toFailure(error)));
      return error;
    },

    get limits() {
      return limits;
    },
    setLimits(next) {
      admission.setLimits(next);
      limits = next;
      turns.setLimit(next.maxConcurrent);
    },
    setOverload: (overload) => admission.setOverload(overload),
    get load() {
      return { running: turns.running, queued: turns.waiting, inside: admission.inside };
    },

    *inFlight() {
      let position = 0;
      for (const { command, requestId, queuedAt, startedAt, phase } of jobs) {
        const isRunning = startedAt !== undefined;
        if (!isRunning) position += 1;
        const { target } = command.request;
        yield {
          id: command.id,
          url: target.url,
          host: target.parsed.hostname,
          batch: command.batch,
          request_id: requestId,
          state: isRunning ? 'running' : 'queued',
          position: isRunning ? null : position,
          phase,
          waited_ms: Math.round((startedAt ?? now()) - queuedAt),
          running_ms: isRunning ? Math.round(now() - startedAt) : 0,
          ...ofKey(command.apiKeyName),
        };
      }
    },

    drain(graceMs) {
      admission.close();
      const cutOff$ = timer(graceMs, scheduler).pipe(
        tap(() => {
          admission.revokeBatches();
          // Newest first: waiting captures must be gone before a running one frees a slot for them.
          for (const job of [...jobs].reverse()) {
            job.abort(new CapstanError('shutting_down'));
          }
        }),
        ignoreElements(),
      );
      const empty$ = admission.inside$.pipe(
        filter((inside) => inside === 0),
        map(() => undefined),
      );
      return firstValueFrom(merge(cutOff$, empty$));
    },
  };
}
