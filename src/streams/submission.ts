import { type Subscriber, Subscription } from 'rxjs';
import { ofKey } from '../capture/client.ts';
import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import type { InFlight } from '../capture/operation/in-flight.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import type { CapturePhase } from '../capture/phases.ts';
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

export function createSubmission(
  asked: Omit<CaptureCommand, 'signal' | 'onPhase' | 'dialled'>,
  facts: Pick<Submission, 'owner' | 'item' | 'isToDial' | 'isFinal' | 'place' | 'queuedAt' | 'client'>,
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
    waitLimit: Subscription.EMPTY,
    startedAt: undefined,
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
