import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  filter,
  firstValueFrom,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  Observable,
  of,
  Subject,
  tap,
  timer,
} from 'rxjs';
import type { Client } from '../capture/client.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import type { Overload } from '../capture/operation/pressure.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { createAdmission } from './admission.ts';
import { type Dialling, dialFirst } from './dial-stage.ts';
import type { ElementPlace } from './element-place.ts';
import {
  captureEnded,
  captureQueued,
  captureRefused,
  captureStarted,
  type EventStream,
  unreadRefused,
} from './events.ts';
import { outcomeOfAbort, outcomeOfError } from './outcome.ts';
import { type PerformanceOptions, performed } from './performance.ts';
import type { Pass, Reservation } from './reservation.ts';
import { createSubmission, inFlightOf, type Submission } from './submission.ts';
import { createLocalTurns, type Turns } from './turns.ts';

export interface CapturePipelineOptions extends Omit<PerformanceOptions, 'abort'> {
  readonly limits: CaptureLimits;
  /** Generates the id of a new capture. */
  readonly ids: () => number;
  readonly events: EventStream;
  /** Decides when admitted captures start. @default In this process, by `maxConcurrent`. */
  readonly turns?: Turns;
  /** Dials targets before their captures wait for a slot. @default Captures are not dialled. */
  readonly dialling?: Dialling;
  /** Maximum time in the queue in milliseconds, after which a capture is `timed_out`. @default unlimited */
  readonly maxWaitMs?: number;
}

/** The client that the capture is made for, and how. Clients (`owner`) take turns and share the queue. */
export interface SubmitOptions extends Partial<Client> {
  readonly batch?: string | null;
  /** Id of the request that waits for the outcome. */
  readonly requestId?: string;
  /** The element's place in its batch. With it, the capture is not admitted on its own. */
  readonly place?: ElementPlace;
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

/** Submits one capture. Cold; emits one outcome and completes. */
export type Submit = (request: CaptureRequest, options?: SubmitOptions) => Observable<CaptureOutcome>;

export interface CapturePipeline {
  /**
   * Admits one capture, which waits for its turn and is performed. Cold; unsubscribing cancels it, queued or running.
   * Emits one outcome and completes. Errors with a `CapstanError` when it is not admitted: `queue_full` (with
   * `retryAfterSeconds`) or `shutting_down`.
   */
  readonly admit: Submit;
  /** Emits the event of a capture that the caller refuses, and errors with the reason. Cold. */
  refuse(request: CaptureRequest, error: CapstanError, options?: SubmitOptions): Observable<never>;
  /**
   * Admits a batch; throws the errors of `admit`. `onReturned` is called once the reservation was released and all its
   * captures have ended.
   */
  admitBatch(wanted: number, onReturned: () => void, owner?: string | null): Reservation;

  /** Maximum number of targets that are dialled at once; 0 when none are. */
  readonly maxDials: number;
  /** Maximum number of captures of one batch that wait for a slot or have one; infinite when its width limits them. */
  readonly maxPerBatch: number;
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

export function createCapturePipeline(options: CapturePipelineOptions): CapturePipeline {
  const { ids, events, report, dialling, scheduler = asyncScheduler, maxWaitMs } = options;
  let limits = options.limits;
  const now = () => scheduler.now();
  const admission = createAdmission(limits, now);
  const turns = options.turns ?? createLocalTurns(limits.maxConcurrent);
  /** Captures without an outcome, and how many of them have started. */
  const submissions = new Set<Submission>();
  let running = 0;
  /** Admitted captures, which `turns` holds back until their turn. */
  const submitted$ = new Subject<Submission>();

  const refuse: CapturePipeline['refuse'] = (
    request,
    error,
    { batch = null, apiKeyName = null, requestId = null } = {},
  ) =>
    new Observable<never>((subscriber) => {
      const refused = captureRefused(now(), { id: ids(), request, batch, apiKeyName, requestId }, toFailure(error));
      // Webhooks report refusals in an admitted batch, which are bounded. Other refusals are only events.
      if (batch === null) events.emit(refused);
      else events.conclude(refused, { callback: request.callback });
      subscriber.error(error);
    });

  const admit: Submit = (request, options = {}) =>
    new Observable<CaptureOutcome>((subscriber) => {
      const { batch = null, requestId = null, place, owner = null, apiKeyName = null, isFinal = () => true } = options;

      const asked = { request, batch, apiKeyName, requestId };
      const isToDial = dialling?.applies(asked) === true;
      const manner = { owner, isToDial, isPatient: place !== undefined, isFinal };
      const begin = (pass: Pass | undefined, ahead?: Submission['ahead']): void => {
        const id = ids();
        if (pass === undefined) {
          // An element has no pass only after its batch's reservation was revoked.
          const error = (place === undefined && admission.refusal(owner)) || new CapstanError('shutting_down');
          events.emit(captureRefused(now(), { id, ...asked }, toFailure(error)));
          subscriber.error(error);
          return;
        }
        const admitted = { id, ...asked, ...manner, pass, ahead, queuedAt: now() };
        const submission = createSubmission(admitted, subscriber, (left) => {
          if (submissions.has(left)) end(left, outcomeOfAbort(left.command.signal));
        });
        submissions.add(submission);
        // Without a dial, a capture of a cluster counts as queued once its queue has it.
        if (turns.enqueue === undefined || isToDial) queued(submission);
        submitted$.next(submission);
        subscriber.add(() => {
          // A capture that has ended must not be aborted.
          if (submissions.has(submission)) submission.abort(new CapstanError('cancelled'));
        });
      };

      // An element waits for its place among the captures at once of its batch, unless its target is dialled first.
      const ahead = isToDial && place !== undefined ? admission.admitAhead(owner) : undefined;
      if (place === undefined) begin(admission.admit(owner));
      else if (ahead === undefined) subscriber.add(place.enter(begin));
      else begin(ahead, { pass: ahead, place });
    });

  const queued = (submission: Submission): void => {
    submission.isQueued = true;
    submission.queuedAt = now();
    events.emit(captureQueued(submission.queuedAt, submission.command));
    if (maxWaitMs !== undefined) {
      submission.waiting = timer(maxWaitMs, scheduler).subscribe(() => submission.abort(waitedTooLong(maxWaitMs)));
    }
  };

  /** Ends a capture that the queue of the cluster has refused. */
  const refused = (submission: Submission, thrown: unknown): void => {
    submissions.delete(submission);
    submission.pass.release();
    const error = CapstanError.from(thrown);
    if (error.code === 'internal') report(thrown, submission.command);
    // A client that has disconnected gets no answer, and its capture was never queued.
    if (error.code !== 'cancelled') events.emit(captureRefused(now(), submission.command, toFailure(error)));
    submission.refuse(error);
  };

  const end = (submission: Submission, outcome: CaptureOutcome): void => {
    const ended = captureEnded(now(), submission.command, outcome);
    if (submission.isFinal(outcome)) events.conclude(ended, { callback: submission.command.request.callback });
    else events.emit(ended);
    submissions.delete(submission);
    if (submission.startedAt !== undefined) running -= 1;
    submission.waiting.unsubscribe();
    submission.dialled?.close();
    submission.pass.release();
    submission.settle(outcome);
  };

  /** Runs a capture whose turn it is. Emits the outcome, and completes when the next capture may take the slot. */
  const work = (submission: Submission): Observable<[Submission, CaptureOutcome]> =>
    defer(() => {
      const command = { ...submission.command, dialled: submission.dialled };
      const startedAt = now();
      submission.startedAt = startedAt;
      running += 1;
      submission.waiting.unsubscribe();
      events.emit(captureStarted(startedAt, command, startedAt - submission.queuedAt));
      const outcome$ = command.signal.aborted
        ? of(outcomeOfAbort(command.signal))
        : performed(command, { ...options, abort: submission.abort });
      return outcome$.pipe(map((outcome): [Submission, CaptureOutcome] => [submission, outcome]));
    });

  const refusal = (): CapstanError | undefined => admission.refusal() ?? turns.refusal?.();

  const reached$ =
    dialling === undefined
      ? submitted$
      : submitted$.pipe(
          dialFirst(dialling, {
            isIn: (submission) => submissions.has(submission),
            end: (submission, outcome, startedAt) => {
              events.emit(captureStarted(now(), submission.command, startedAt - submission.queuedAt));
              end(submission, outcome);
            },
            now,
            report,
          }),
        );
  /** Puts a capture into the queue of the cluster, if there is one. One that is dialled was queued before. */
  const enqueued = (submission: Submission): Observable<Submission> => {
    const { command, owner, isPatient } = submission;
    if (turns.enqueue === undefined) return of(submission);
    return from(turns.enqueue(command, owner, isPatient)).pipe(
      map(() => {
        if (!submission.isQueued) {
          if (command.signal.aborted) refused(submission, command.signal.reason);
          else queued(submission);
        }
        // Also when it was aborted: its turn removes it from the queue of the cluster.
        return submission;
      }),
      catchError((thrown: unknown) => {
        if (!submission.isQueued) refused(submission, thrown);
        else if (submissions.has(submission)) end(submission, outcomeOfError(thrown));
        return EMPTY;
      }),
    );
  };
  reached$.pipe(mergeMap(enqueued), turns.each(work)).subscribe(([submission, outcome]) => end(submission, outcome));

  return {
    admit,
    refuse,
    admitBatch(wanted, onReturned, owner = null) {
      const reservation = admission.admitBatch(wanted, onReturned, owner);
      if (reservation === undefined) {
        throw admission.refusal(owner) ?? new CapstanError('queue_full');
      }
      return reservation;
    },
    refusal,
    refuseUnread() {
      const error = refusal();
      if (error !== undefined) events.emit(unreadRefused(now(), ids(), toFailure(error)));
      return error;
    },

    get maxDials() {
      return dialling?.stage.limit ?? 0;
    },
    get maxPerBatch() {
      return turns.maxPerBatch?.() ?? Number.POSITIVE_INFINITY;
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
      return { running, queued: submissions.size - running, inside: admission.inside };
    },

    inFlight: () => inFlightOf(submissions, now),

    drain(graceMs) {
      admission.close();
      const cutOff$ = timer(graceMs, scheduler).pipe(
        tap(() => {
          admission.revokeBatches();
          // Newest first: waiting captures must be gone before a running one frees a slot for them.
          for (const submission of [...submissions].reverse()) {
            submission.abort(new CapstanError('shutting_down'));
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

function waitedTooLong(maxWaitMs: number): CapstanError {
  return new CapstanError('capture_timeout', `The capture was not started within ${maxWaitMs} ms.`);
}
