import type { Socket } from 'node:net';
import type { CaptureOutcome } from './outcome.ts';

/**
 * Time for which a connection waits for its first request, in milliseconds. Shorter than the 5 s after which many
 * servers close such connections.
 */
export const MAX_UNUSED_MS = 4_000;

/**
 * The result of dialling a capture's target before it has a browser: an open connection, and perhaps the failure of
 * another one. Each is given out once.
 */
export interface Dialled {
  /** Milliseconds that the lookup and the connection took. */
  readonly ms: number;
  /**
   * Returns the connection to a host (as in a URL) and port; undefined when there is none, or none any more.
   * @throws CapstanError why this host and port could not be reached, once.
   */
  take(host: string, port: number): { readonly socket: Socket; readonly address: string } | undefined;
  /** Closes the connection, unless it was taken. Idempotent. */
  close(): void;
}

/** A target that was not reached. */
export interface Unreached {
  /** The outcome of its capture: resolves once its record is stored. */
  readonly outcome: Promise<CaptureOutcome>;
}
