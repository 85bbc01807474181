import type { Dialled } from './dialled.ts';
import type { CapturePhase } from './phases.ts';
import type { CaptureRequest } from './request.ts';

/** An admitted request, with its id and its cancellation signal. */
export interface CaptureCommand {
  /** The capture's id, which becomes its result's id. */
  readonly id: number;
  readonly request: CaptureRequest;
  /** Id of the batch that the capture belongs to, whose items may share a page. */
  readonly batch: string | null;
  /** Name of the API key that requested it; null without a named key. */
  readonly apiKeyName: string | null;
  /** Id of the HTTP request that waits for the outcome; null for captures of batches and jobs. */
  readonly requestId: string | null;
  /** Aborted when no client waits any more, when the queue or the capture takes too long, and on shutdown. */
  readonly signal: AbortSignal;
  /** The open connection to its target; undefined when the browser connects. */
  readonly dialled?: Dialled | undefined;
  /** Called with each phase that the capture enters. */
  readonly onPhase?: ((phase: CapturePhase) => void) | undefined;
}
