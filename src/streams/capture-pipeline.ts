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
import type { Unreached } from '../capture/dialled.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { CaptureLimits } from '../capture/operation/limits.ts';
import type { Overload } from '../capture/operation/pressure.ts';
import { type CaptureOutcome, outcomeOfAbort, outcomeOfError } from '../capture/outcome.ts';
import type { CaptureRequest } from '../capture/request.ts';
import { createAdmission } from './admission.ts';
import { type CaptureQueue, createLocalQueue } from './capture-queue.ts';
import type { Dialling } from './dial-stage.ts';
import {
  captureEnded,
  captureQueued,
  captureRefused,
  captureStarted,
  type EventStream,
  unreadRefused,
} from './events.ts';
import { type PerformOptions, performWithBackstops } from './perform-with-backstops.ts';
import type { ReadItem } from './read-ahead.ts';
import type { Place, Reservation } from './reservation.ts';
import { createSubmission, inFlightOf, type Submission } from './submission.ts';

export interface CapturePipelineOptions extends Omit<PerformOptions, 'abort'> {
  readonly limits: CaptureLimits;
  /** Generates the id of a new capture. */
  readonly ids: () => number;
  readonly events: EventStream;
  /** @default In this process, with `maxConcurrent` slots. */
  readonly queue?: CaptureQueue;
  /** Dials targets before their captures wait for a slot. @default Captures are not dialled. */
  readonly dialling?: Dialling;
  /** Maximum time in the queue in milliseconds, after which a capture is `timed_out`. @default unlimited */
  readonly maxWaitMs?: number;
}

/**
 * Options of a submission: its client, its batch, and callbacks of the caller. Clients (`owner`) take turns and share
 * the queue.
 */
export interface SubmitOptions extends Partial<Client> {
  readonly batch?: string | null;
  /** Id of the request that waits for the outcome. */
  readonly requestId?: string;
  /** The item of its batch, and how it gets a place there; undefined for a single capture. */
  readonly item?: ReadItem & Pick<Reservation, 'enter'>;
  /** Called once the capture has a place. */
  readonly onAdmitted?: () => void;
  /**
   * Returns false for an outcome after which the caller submits again: receivers are not told of it.
   */
  readonly isFinal?: (outcome: CaptureOutcome) => boolean;
}

/** Current numbers of captures. */
export interface Load {
  readonly running: number;
  readonly queued: number;
  /** Places in use: running, queued, and reserved by batches. */
  readonly taken: number;
}

/** Submits one capture. Cold; emits one outcome and completes. */
export type Submit = (request: CaptureRequest, options?: SubmitOptions) => Observable<CaptureOutcome>;

export interface CapturePipeline {
  /**
   * Admits one capture, which waits for a slot and is performed. Cold; unsubscribing cancels it, queued or running.
   * Emits one outcome and completes. Errors with a `CapstanError` when it is not admitted: `queue_full` (with
   * `retryAfterSeconds`), `shutting_down` or `cluster_unavailable`.
   */
  readonly admit: Submit;
  /** Emits the event of a capture that the caller refuses, and errors with the reason. Cold. */
  refuse(request: CaptureRequest, error: CapstanError, options?: SubmitOptions): Observable<never>;
  /**
   * Admits a batch; throws the errors of `admit`. `onEmpty` is called once the reservation was released and all its
   * captures have ended.
   */
  admitBatch(wanted: number, onEmpty: () => void, owner?: string | null): Reservation;

  /** Maximum number of targets that are dialled at once; 0 when none are. */
  readonly maxDials: number;
  /** Maximum number of captures of one batch that wait for a slot or run; infinite when only its width limits them. */
  readonly maxPerBatch: number;
  readonly limits: CaptureLimits;
  /** Changes the limits at once. No admitted capture is lost or restarted. */
  setLimits(limits: CaptureLimits): void;
  /**
   * Admits at most `maxTaken` captures, and refuses the others with `queue_full` and this reason, until it is called with
   * null.
   */
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

/*
 * A capture passes through the functions of `createCapturePipeline` in their order: it is admitted or refused, its
 * target is dialled, it joins its batch, waits for a slot (`queue.each`), is performed, and ends.
 */
export function createCapturePipeline(options: CapturePipelineOptions): CapturePipeline {
  const { ids, events, report, dialling, scheduler = asyncScheduler, maxWaitMs } = options;
  let limits = options.limits;
  const now = () => scheduler.now();
  const admission = createAdmission(limits, now);
  const queue = options.queue ?? createLocalQueue(limits.maxConcurrent);
  /** Captures without an outcome, and how many of them have started. */
  const submissions = new Set<Submission>();
  let running = 0;
  const admitted$ = new Subject<Submission>();

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
    new Observable<CaptureOutcome>((client) => {
      const { batch = null, requestId = null, item, owner = null, apiKeyName = null } = options;
      const asked = { request, batch, apiKeyName, requestId };
      const isToDial = dialling !== undefined && dialling.stage.limit > 0 && dialling.applies(asked);
      const facts = { owner, item, isToDial, isFinal: options.isFinal ?? (() => true), client };
      const begin = (place: Place | undefined): void => {
        const id = ids();
        if (place === undefined) {
          // Without a place, the reservation of the item's batch was revoked.
          const error = (item ? undefined : admission.refusal(owner)) ?? new CapstanError('shutting_down');
          events.emit(captureRefused(now(), { id, ...asked }, toFailure(error)));
          client.error(error);
          return;
        }
        options.onAdmitted?.();
        const submission = createSubmission({ id, ...asked }, { ...facts, place, queuedAt: now() });
        submissions.add(submission);
        // A single capture of a cluster counts as queued once its queue has it.
        if (queue.enqueue === undefined || item !== undefined) queued(submission);
        admitted$.next(submission);
        // A capture that has ended must not be aborted.
        client.add(() => void (submission.state === 'over' || abort(submission, new CapstanError('cancelled'))));
      };

      if (item === undefined) begin(admission.admit(owner));
      else return item.enter(isToDial, begin);
    });

  const queued = (submission: Submission): void => {
    submission.state = 'queued';
    submission.queuedAt = now();
    events.emit(captureQueued(submission.queuedAt, submission.command));
    if (maxWaitMs !== undefined) {
      const late = () => abort(submission, waitedTooLong(maxWaitMs));
      submission.waitLimit = timer(maxWaitMs, scheduler).subscribe(late);
    }
  };

  /** Dials the target of a capture. Emits the capture if it is reached, and ends it otherwise. */
  const dial = (submission: Submission, connect: Dialling['dial']): Observable<Submission> =>
    new Observable((subscriber) => {
      const startedAt = now();
      const { command } = submission;
      submission.state = 'dialling';
      submission.phase = 'dial';
      submission.item?.dialling();
      // Continues after an abort: a connection that is open by then must be closed.
      void connect(command)
        .catch((error: unknown): Unreached => ({ outcome: Promise.reject(error) }))
        .then((found) => {
          if ('outcome' in found) {
            // Not awaited: the target's place among the dials is free while the record is stored.
            endUnreached(submission, found, startedAt);
          } else {
            submission.dialled = found;
            if (command.signal.aborted) end(submission, outcomeOfAbort(command.signal));
            else {
              submission.state = 'queued';
              submission.phase = null;
              subscriber.next(submission);
            }
          }
          subscriber.complete();
        });
    });

  /** Emits the capture: at once if it is not to be dialled, otherwise when its target is reached. */
  const reached = (submission: Submission): Observable<Submission> => {
    if (dialling === undefined || !submission.isToDial) return of(submission);
    submission.item?.toDial();
    return dialling.stage.inTurn(submission, dial(submission, dialling.dial));
  };

  const endUnreached = (submission: Submission, { outcome }: Unreached, dialledAt: number): void => {
    const { command } = submission;
    const { signal } = command;
    const options = { ...performOptionsOf(submission), perform: () => outcome };
    performWithBackstops(command, options).subscribe((ended) => {
      // A capture that was aborted during its dial has not started.
      if (!signal.aborted || ended.state !== outcomeOfAbort(signal).state)
        events.emit(captureStarted(now(), command, dialledAt - submission.queuedAt));
      end(submission, ended);
    });
  };

  /** Emits the capture when its batch has room for it, unless it is aborted before. */
  const joined = (submission: Submission): Observable<Submission> =>
    new Observable((subscriber) => {
      submission.item?.reached();
      submission.command.signal.addEventListener('abort', () => subscriber.complete(), { once: true });
      submission.place.join(() => {
        subscriber.next(submission);
        subscriber.complete();
      });
    });

  /** Puts a capture into the queue of the cluster, if there is one. */
  const enqueued = (submission: Submission): Observable<Submission> => {
    const { command, owner, item } = submission;
    if (queue.enqueue === undefined) return of(submission);
    return from(queue.enqueue(command, owner, item !== undefined)).pipe(
      map(() => {
        if (submission.state === 'admitted') {
          if (command.signal.aborted) refusedByQueue(submission, command.signal.reason);
          else queued(submission);
        }
        // An aborted capture is emitted, too: `queue.each` removes it from the queue of the cluster.
        return submission;
      }),
      catchError((thrown: unknown) => {
        if (submission.state === 'admitted') refusedByQueue(submission, thrown);
        else if (submission.state !== 'over') end(submission, outcomeOfError(thrown));
        return EMPTY;
      }),
    );
  };

  const refusedByQueue = (submission: Submission, thrown: unknown): void => {
    const error = CapstanError.from(thrown);
    leave(submission);
    if (error.code === 'internal') report(thrown, submission.command);
    // A client that has disconnected gets no answer, and its capture was never queued.
    if (error.code !== 'cancelled') events.emit(captureRefused(now(), submission.command, toFailure(error)));
    submission.client.error(error);
  };

  const performOptionsOf = (submission: Submission): PerformOptions => ({
    ...options,
    abort: (reason) => abort(submission, reason),
  });

  /** Performs a capture that has a slot. Emits the outcome, and completes when the next capture may take the slot. */
  const perform = (submission: Submission): Observable<[Submission, CaptureOutcome]> =>
    defer(() => {
      const command = { ...submission.command, dialled: submission.dialled };
      const startedAt = now();
      submission.startedAt = startedAt;
      submission.state = 'running';
      running += 1;
      submission.waitLimit.unsubscribe();
      events.emit(captureStarted(startedAt, command, startedAt - submission.queuedAt));
      const outcome$ = command.signal.aborted
        ? of(outcomeOfAbort(command.signal))
        : performWithBackstops(command, performOptionsOf(submission));
      return outcome$.pipe(map((outcome): [Submission, CaptureOutcome] => [submission, outcome]));
    });

  const end = (submission: Submission, outcome: CaptureOutcome): void => {
    const ended = captureEnded(now(), submission.command, outcome);
    if (submission.isFinal(outcome)) events.conclude(ended, { callback: submission.command.request.callback });
    else events.emit(ended);
    leave(submission);
    submission.client.next(outcome);
    submission.client.complete();
  };

  const leave = (submission: Submission): void => {
    if (submission.state === 'running') running -= 1;
    submission.state = 'over';
    submissions.delete(submission);
    submission.waitLimit.unsubscribe();
    submission.dialled?.close();
    submission.place.release();
  };

  const abort = (submission: Submission, reason: CapstanError): void => {
    const { controller, command } = submission;
    // Ends a capture that waits. A running capture is ended by `performWithBackstops`, a dialled one by its dial: the
    // record of a dead target may be in the middle of being stored.
    controller.abort(reason);
    if (submission.state === 'queued') end(submission, outcomeOfAbort(command.signal));
  };

  const ended$ = admitted$.pipe(mergeMap(reached), mergeMap(joined), mergeMap(enqueued), queue.each(perform));
  ended$.subscribe(([submission, outcome]) => end(submission, outcome));

  const refusal = (): CapstanError | undefined => admission.refusal() ?? queue.refusal?.();

  return {
    admit,
    refuse,
    admitBatch(wanted, onEmpty, owner = null) {
      const reservation = admission.admitBatch(wanted, onEmpty, owner);
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
      return queue.maxPerBatch?.() ?? Number.POSITIVE_INFINITY;
    },
    get limits() {
      return limits;
    },
    setLimits(next) {
      admission.setLimits(next);
      limits = next;
      queue.setLimit(next.maxConcurrent);
    },
    setOverload: (overload) => admission.setOverload(overload),
    get load() {
      return { running, queued: submissions.size - running, taken: admission.taken };
    },

    inFlight: () => inFlightOf(submissions, now),

    drain(graceMs) {
      admission.close();
      const cutOff$ = timer(graceMs, scheduler).pipe(
        tap(() => {
          admission.revokeBatches();
          // Newest first: waiting captures must be gone before a running one frees a slot for them.
          for (const submission of [...submissions].reverse()) {
            abort(submission, new CapstanError('shutting_down'));
          }
        }),
        ignoreElements(),
      );
      const empty$ = admission.taken$.pipe(
        filter((taken) => taken === 0),
        map(() => undefined),
      );
      return firstValueFrom(merge(cutOff$, empty$));
    },
  };
}

function waitedTooLong(maxWaitMs: number): CapstanError {
  return new CapstanError('capture_timeout', `The capture was not started within ${maxWaitMs} ms.`);
}
