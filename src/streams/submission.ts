import { type Subscriber, Subscription } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import type { CapstanError } from '../capture/errors.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { ToDial } from './dial-stage.ts';

/** A capture in the pipeline: its command, its pass, and how it is settled. */
export interface Submission extends ToDial {
  /** Whether it waits for room in the queue of a cluster, as elements of batches do. */
  readonly isPatient: boolean;
  isQueued: boolean;
  queuedAt: number;
  readonly abort: (reason: CapstanError) => void;
  readonly settle: (outcome: CaptureOutcome) => void;
  /** Ends it without an outcome. */
  readonly refuse: (error: CapstanError) => void;
  readonly isFinal: (outcome: CaptureOutcome) => boolean;
  /** Limits the time in the queue. */
  waiting: Subscription;
  /** Time of the start; undefined in the queue. */
  startedAt: number | undefined;
}

interface Admitted
  extends Pick<Submission, 'pass' | 'ahead' | 'owner' | 'isToDial' | 'isPatient' | 'isFinal' | 'queuedAt'>,
    Omit<CaptureCommand, 'signal' | 'onPhase' | 'dialled'> {}

/** Returns the submission of an admitted capture. `left`: called when it was aborted, and has left the queue. */
export function createSubmission(
  { pass, ahead, owner, isToDial, isPatient, isFinal, queuedAt, ...capture }: Admitted,
  subscriber: Subscriber<CaptureOutcome>,
  left: (submission: Submission) => void,
): Submission {
  const controller = new AbortController();
  const submission: Submission = {
    command: {
      ...capture,
      signal: controller.signal,
      onPhase: (phase) => {
        submission.phase = phase;
      },
    },
    ...{ pass, ahead, owner, isToDial, isPatient, isFinal, queuedAt },
    isQueued: false,
    waiting: Subscription.EMPTY,
    abort: (reason) => {
      controller.abort(reason);
      // `turns` has removed it from the queue, by a listener of the same signal.
      if (submission.isQueued && submission.startedAt === undefined) left(submission);
    },
    settle: (outcome) => {
      subscriber.next(outcome);
      subscriber.complete();
    },
    refuse: (error) => subscriber.error(error),
    startedAt: undefined,
    phase: null,
    dialled: undefined,
  };
  return submission;
}

/** Describes captures in the order of their admission. */
export function* inFlightOf(
  submissions: Iterable<Submission>,
  now: () => number,
): Generator<InFlight, void, undefined> {
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
