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
import { captureRefused, captureStarted, unreadRefused } from './events.ts';
import { type PerformOptions, performWithBackstops } from './perform-with-backstops.ts';
import type { ReadItem } from './read-ahead.ts';
import type { Place, Reservation } from './reservation.ts';
import { createSubmissions, type Submission, type SubmissionsOptions } from './submissions.ts';

export interface CapturePipelineOptions extends Omit<PerformOptions, 'abort'>, Omit<SubmissionsOptions, 'scheduler'> {
  readonly limits: CaptureLimits;
  /** Generates the id of a new capture. */
  readonly ids: () => number;
  /** @default In this process, with `maxConcurrent` slots. */
  readonly queue?: CaptureQueue;
  /** Dials targets before their captures wait for a slot. @default Captures are not dialled. */
  readonly dialling?: Dialling;
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
  /** Captures that have a slot. */
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
 * An admitted capture passes four stages, in the order of `ended$`. Each stage emits the captures that go on. `enqueue`
 * also emits aborted ones, so that `queue.each` removes them; `perform` emits outcomes.
 */
export function createCapturePipeline(options: CapturePipelineOptions): CapturePipeline {
  const { ids, events, dialling, scheduler = asyncScheduler } = options;
  let limits = options.limits;
  const now = () => scheduler.now();
  const admission = createAdmission(limits, now);
  const queue = options.queue ?? createLocalQueue(limits.maxConcurrent);
  const submissions = createSubmissions({ ...options, scheduler });

  const admitted$ = new Subject<Submission>();
  const ended$ = admitted$.pipe(mergeMap(dialFirst), mergeMap(awaitRoom), mergeMap(enqueue), queue.each(perform));
  ended$.subscribe(([submission, outcome]) => submissions.end(submission, outcome));

  function admit(request: CaptureRequest, submitOptions: SubmitOptions = {}): Observable<CaptureOutcome> {
    return new Observable((client) => {
      const { batch = null, requestId = null, item, owner = null, apiKeyName = null } = submitOptions;
      const asked = { request, batch, apiKeyName, requestId };
      const isToDial = dialling !== undefined && dialling.stage.limit > 0 && dialling.applies(asked);
      const facts = { owner, item, isToDial, isFinal: submitOptions.isFinal ?? (() => true), client };
      const begin = (place: Place | undefined): void => {
        const id = ids();
        if (place === undefined) {
          // Without a place, the reservation of the item's batch was revoked.
          const error = (item ? undefined : admission.refusal(owner)) ?? new CapstanError('shutting_down');
          events.emit(captureRefused(now(), { id, ...asked }, toFailure(error)));
          client.error(error);
          return;
        }
        submitOptions.onAdmitted?.();
        const submission = submissions.add({ id, ...asked }, { ...facts, place });
        // A single capture of a cluster counts as queued once its queue has it.
        if (queue.enqueue === undefined || item !== undefined) submissions.queued(submission);
        admitted$.next(submission);
        // A capture that has ended must not be aborted.
        client.add(
          () => void (submission.state === 'over' || submissions.abort(submission, new CapstanError('cancelled'))),
        );
      };

      if (item === undefined) begin(admission.admit(owner));
      else return item.enter(isToDial, begin);
    });
  }

  /** First stage: the target of the capture is reached, or is not to be dialled. */
  function dialFirst(submission: Submission): Observable<Submission> {
    if (dialling === undefined || !submission.isToDial) return of(submission);
    submission.item?.toDial();
    return dialling.stage.inTurn(submission, dial(submission, dialling.dial));
  }

  /** Dials the target of a capture. Emits the capture if it is reached, and ends it otherwise. */
  function dial(submission: Submission, connect: Dialling['dial']): Observable<Submission> {
    return new Observable((subscriber) => {
      const startedAt = now();
      const { command } = submission;
      submissions.dialling(submission);
      // Continues after an abort: a connection that is open by then must be closed.
      void connect(command)
        .catch((error: unknown): Unreached => ({ outcome: Promise.reject(error) }))
        .then((found) => {
          // Not awaited: the target's place among the dials is free while the record is stored.
          if ('outcome' in found) endUnreached(submission, found, startedAt);
          else if (submissions.dialled(submission, found)) subscriber.next(submission);
          subscriber.complete();
        });
    });
  }

  function endUnreached(submission: Submission, { outcome }: Unreached, dialledAt: number): void {
    const { command } = submission;
    const { signal } = command;
    const options = { ...performOptionsOf(submission), perform: () => outcome };
    performWithBackstops(command, options).subscribe((ended) => {
      // A capture that was aborted during its dial has not started.
      if (!signal.aborted || ended.state !== outcomeOfAbort(signal).state)
        events.emit(captureStarted(now(), command, dialledAt - submission.queuedAt));
      submissions.end(submission, ended);
    });
  }

  /** Second stage: the batch of the capture has room for it. Emits nothing if the capture is aborted before. */
  function awaitRoom(submission: Submission): Observable<Submission> {
    return new Observable((subscriber) => {
      submission.item?.reached();
      submission.command.signal.addEventListener('abort', () => subscriber.complete(), { once: true });
      submission.place.join(() => {
        subscriber.next(submission);
        subscriber.complete();
      });
    });
  }

  /** Third stage: the queue of the cluster, if there is one, has the capture. */
  function enqueue(submission: Submission): Observable<Submission> {
    const { command, owner, item } = submission;
    if (queue.enqueue === undefined) return of(submission);
    return from(queue.enqueue(command, owner, item !== undefined)).pipe(
      map(() => {
        if (submission.state === 'admitted') {
          if (command.signal.aborted) submissions.refuse(submission, command.signal.reason);
          else submissions.queued(submission);
        }
        // An aborted capture is emitted, too: `queue.each` removes it from the queue of the cluster.
        return submission;
      }),
      catchError((thrown: unknown) => {
        if (submission.state === 'admitted') submissions.refuse(submission, thrown);
        else if (submission.state !== 'over') submissions.end(submission, outcomeOfError(thrown));
        return EMPTY;
      }),
    );
  }

  /**
   * Last stage: performs a capture that has a slot. Emits its outcome, and completes when the next capture may take the
   * slot.
   */
  function perform(submission: Submission): Observable<[Submission, CaptureOutcome]> {
    return defer(() => {
      submissions.started(submission);
      const command = { ...submission.command, dialled: submission.dialled };
      const outcome$ = command.signal.aborted
        ? of(outcomeOfAbort(command.signal))
        : performWithBackstops(command, performOptionsOf(submission));
      return outcome$.pipe(map((outcome): [Submission, CaptureOutcome] => [submission, outcome]));
    });
  }

  function performOptionsOf(submission: Submission): PerformOptions {
    return { ...options, abort: (reason) => submissions.abort(submission, reason) };
  }

  const refusal = (): CapstanError | undefined => admission.refusal() ?? queue.refusal?.();

  return {
    admit,
    refuse: (request, error, { batch = null, apiKeyName = null, requestId = null } = {}) =>
      new Observable<never>((subscriber) => {
        const refused = captureRefused(now(), { id: ids(), request, batch, apiKeyName, requestId }, toFailure(error));
        // Webhooks report refusals in an admitted batch, which are bounded. Other refusals are only events.
        if (batch === null) events.emit(refused);
        else events.conclude(refused, { callback: request.callback });
        subscriber.error(error);
      }),
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
      return { running: submissions.running, queued: submissions.waiting, taken: admission.taken };
    },

    inFlight: submissions.inFlight,

    drain(graceMs) {
      admission.close();
      const cutOff$ = timer(graceMs, scheduler).pipe(
        tap(() => {
          admission.revokeBatches();
          submissions.abortAll(new CapstanError('shutting_down'));
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
