import type { CaptureCommand } from '../capture/command.ts';
import type { Dialled } from '../capture/dialled.ts';
import { CapstanError, toFailure } from '../capture/errors.ts';
import { NO_EVIDENCE } from '../capture/evidence.ts';
import type { CaptureOutcome } from '../capture/outcome.ts';
import { hasNetwork } from '../capture/request.ts';
import type { Egress } from '../egress/egress.ts';
import { type FailureParts, failedOutcome, timingSince } from './failed-outcome.ts';

export interface DialParts extends FailureParts {
  readonly egress: Pick<Egress, 'dial'>;
}

/**
 * Whether the target is dialled before the capture has a browser: not given HTML, which may need no network, and not
 * elements that share a page, whose browser context may have a cached answer.
 */
export function isDialled({ request, batch }: Pick<CaptureCommand, 'request' | 'batch'>): boolean {
  return request.html === undefined && hasNetwork(request) && !(request.isolation === 'batch' && batch !== null);
}

/**
 * Connects to the target of a capture. Resolves with the connection, or with the outcome of a capture whose target
 * cannot be reached, once its record is stored: the outcome that its browser would have found.
 */
export async function dialTarget(command: CaptureCommand, parts: DialParts): Promise<Dialled | CaptureOutcome> {
  const { request, signal } = command;
  const timing = timingSince();
  try {
    return await parts.egress.dial(request, signal);
  } catch (error) {
    if (error instanceof CapstanError && error.code === 'target_forbidden')
      return { state: 'rejected', failure: toFailure(error) };
    return failedOutcome(command, error, timing(), NO_EVIDENCE, parts);
  }
}

/** Dials the target of a capture that has a slot, and performs the capture if it is reached. */
export async function* dialAndPerform(
  command: CaptureCommand,
  parts: DialParts,
  perform: (command: CaptureCommand) => AsyncGenerator<CaptureOutcome>,
): AsyncGenerator<CaptureOutcome> {
  const found = await dialTarget(command, parts);
  if ('state' in found) {
    yield found;
    return;
  }
  yield* closing(found, perform({ ...command, dialled: found }));
}

/** Performs a capture, and closes its connection at the end unless it was used. */
export async function* closing(
  dialled: Dialled,
  outcomes: AsyncGenerator<CaptureOutcome>,
): AsyncGenerator<CaptureOutcome> {
  try {
    yield* outcomes;
  } finally {
    dialled.close();
  }
}
