import { type SchedulerLike, type Subscriber, Subscription, timer } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import { type CaptureOutcome, outcomeOfAbort } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
import { captureEnded, captureQueued, captureRefused, captureStarted, type EventStream } from './events.ts';
import type { ReadItem } from './read-ahead.ts';
import type { Place } from './reservation.ts';

/** A capture in the pipeline, from its admission to its outcome. */
export interface Submission {
  readonly owner: string | null;
  /** The item of a batch that it is made for. */
  readonly item: ReadItem | undefined;
  /** Whether its target is dialled before it waits for a slot. */
  readonly isToDial: boolean;
  readonly isFinal: (outcome: CaptureOutcome) => boolean;
  readonly command: CaptureCommand;
  /** Aborts the command's signal. */
  readonly controller: AbortController;
  /** Receives the outcome, or the error of a capture that the queue of a cluster refuses. */
  readonly client: Subscriber<CaptureOutcome>;
  readonly place: Place;
  phase: CapturePhase | null;
  /** The open connection to its target. */
  dialled: Dialled | undefined;
  /**
   * - `admitted`: the queue of the cluster has not taken it yet.
   * - `queued`: from then on until it starts; captures of batches, and all outside of a cluster, are queued at once.
   * - `dialling`: until the target is reached, or the record of an unreachable target is stored.
   * - `over`: it has its outcome, or was refused.
   */
  state: 'admitted' | 'queued' | 'dialling' | 'running' | 'over';
  queuedAt: number;
  /** Limits the time in the queue. */
  waitLimit: Subscription;
  /** Time of the start; undefined in the queue. */
  startedAt: number | undefined;
}

export interface SubmissionsOptions {
  readonly events: EventStream;
  /** Maximum time in the queue in milliseconds, after which a capture is `timed_out`. @default unlimited */
  readonly maxWaitMs?: number;
  readonly scheduler: SchedulerLike;
  /** Reports errors that clients do not get. */
  readonly report: (error: unknown, command: CaptureCommand) => void;
}

/** Keeps the captures without an outcome: changes their states, emits their events, and passes on their outcomes. */
export function createSubmissions({ events, maxWaitMs, scheduler, report }: SubmissionsOptions) {
  const now = () => scheduler.now();
  const all = new Set<Submission>();
  let running = 0;

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
    all.delete(submission);
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

  return {
    /** Number of captures that have started. */
    get running() {
      return running;
    },
    /** Number of captures that have not started. */
    get waiting() {
      return all.size - running;
    },
    /** Generates the captures without an outcome, in the order of their admission. */
    inFlight: () => inFlightOf(all, now),

    /** Adds a capture that was admitted. */
    add(
      asked: Omit<CaptureCommand, 'signal' | 'onPhase' | 'dialled'>,
      facts: Pick<Submission, 'owner' | 'item' | 'isToDial' | 'isFinal' | 'place' | 'client'>,
    ): Submission {
      const controller = new AbortController();
      const onPhase = (phase: CapturePhase): void => {
        submission.phase = phase;
      };
      const submission: Submission = {
        ...facts,
        controller,
        command: { ...asked, signal: controller.signal, onPhase },
        phase: null,
        dialled: undefined,
        state: 'admitted',
        queuedAt: now(),
        waitLimit: Subscription.EMPTY,
        startedAt: undefined,
      };
      all.add(submission);
      return submission;
    },
    queued(submission: Submission): void {
      submission.state = 'queued';
      submission.queuedAt = now();
      events.emit(captureQueued(submission.queuedAt, submission.command));
      if (maxWaitMs === undefined) return;
      const late = `The capture was not started within ${maxWaitMs} ms.`;
      submission.waitLimit = timer(maxWaitMs, scheduler).subscribe(() =>
        abort(submission, new CapstanError('capture_timeout', late)),
      );
    },
    dialling(submission: Submission): void {
      submission.state = 'dialling';
      submission.phase = 'dial';
      submission.item?.dialling();
    },
    /** Keeps the connection of a capture, which waits again. Ends a capture that was aborted; then returns false. */
    dialled(submission: Submission, connection: Dialled): boolean {
      const { signal } = submission.command;
      submission.dialled = connection;
      if (signal.aborted) end(submission, outcomeOfAbort(signal));
      else {
        submission.state = 'queued';
        submission.phase = null;
      }
      return !signal.aborted;
    },
    started(submission: Submission): void {
      const startedAt = now();
      submission.startedAt = startedAt;
      submission.state = 'running';
      running += 1;
      submission.waitLimit.unsubscribe();
      events.emit(captureStarted(startedAt, submission.command, startedAt - submission.queuedAt));
    },
    /** Ends a capture that the queue of a cluster does not take: its client gets the error. */
    refuse(submission: Submission, thrown: unknown): void {
      const error = CapstanError.from(thrown);
      leave(submission);
      if (error.code === 'internal') report(thrown, submission.command);
      // A client that has disconnected gets no answer, and its capture was never queued.
      if (error.code !== 'cancelled') events.emit(captureRefused(now(), submission.command, toFailure(error)));
      submission.client.error(error);
    },
    end,
    abort,
    abortAll(reason: CapstanError): void {
      // Newest first: waiting captures must be gone before a running one frees a slot for them.
      for (const submission of [...all].reverse()) abort(submission, reason);
    },
  };
}

function* inFlightOf(submissions: Iterable<Submission>, now: () => number): Generator<InFlight, void, undefined> {
  let position = 0;
  for (const { command, queuedAt, startedAt, phase } of submissions) {
    const isRunning = startedAt !== undefined;
    if (!isRunning) position += 1;
    const { target } = command.request;
    yield {
      id: command.id,
      url: target.url,
      host: target.parsed.hostname,
      batch: command.batch,
      request_id: command.requestId,
      state: isRunning ? 'running' : 'queued',
      position: isRunning ? null : position,
      phase,
      waited_ms: Math.round((startedAt ?? now()) - queuedAt),
      running_ms: isRunning ? Math.round(now() - startedAt) : 0,
      node: null,
      ...ofKey(command.apiKeyName),
    };
  }
}
