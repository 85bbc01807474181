import { type Subscriber, Subscription } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
import type { ItemPlace, Place } from './reservation.ts';

/** A capture in the pipeline, from its admission to its outcome. */
export interface Submission {
  readonly owner: string | null;
  /** Its place in its batch. */
  readonly itemPlace: ItemPlace | undefined;
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
  isQueued: boolean;
  queuedAt: number;
  /** Limits the time in the queue. */
  waiting: Subscription;
  /** Time of the start; undefined in the queue. */
  startedAt: number | undefined;
  /** Whether it has its outcome, or was refused. */
  isOver: boolean;
}

export function createSubmission(
  asked: Omit<CaptureCommand, 'signal' | 'onPhase' | 'dialled'>,
  facts: Pick<Submission, 'owner' | 'itemPlace' | 'isToDial' | 'isFinal' | 'place' | 'queuedAt' | 'client'>,
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
    isQueued: false,
    waiting: Subscription.EMPTY,
    startedAt: undefined,
    isOver: false,
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
