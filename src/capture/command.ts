import type { CaptureRequest } from './request.ts';

/** A request that was admitted: it has an id, and can be cancelled. */
export interface CaptureCommand {
  /** The capture's id, which becomes its result's id. */
  readonly id: number;
  readonly request: CaptureRequest;
  /** The batch that it belongs to. */
  readonly batch: string | null;
  /** Aborted when nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
}
