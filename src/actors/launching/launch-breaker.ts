import { CapstanError } from '../../capture/errors.ts';

/** Pause after a failed launch, in milliseconds: doubles with each failure, up to the maximum. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;

/** The reason why no browser is available. */
export interface Unavailable {
  /** Text for clients, without paths and without the browser's output. */
  readonly reason: string;
  /** Text for the operator. */
  readonly detail: string;
}

/**
 * Circuit breaker for launches: after a failed one it is open, and retries the launch after growing pauses until it is
 * closed.
 */
export class LaunchBreaker {
  readonly #retry: () => void;
  #unavailable: Unavailable | null = null;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(retry: () => void) {
    this.#retry = retry;
  }

  /** The reason why no browser is available; null while the breaker is closed. */
  get unavailable(): Unavailable | null {
    return this.#unavailable;
  }

  /** @throws `browser_unavailable` while the breaker is open. */
  check(): void {
    if (this.#unavailable !== null) throw new CapstanError('browser_unavailable', this.#unavailable.reason);
  }

  open(unavailable: Unavailable): void {
    clearTimeout(this.#timer);
    this.#unavailable = unavailable;
    this.#timer = setTimeout(this.#retry, this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#unavailable = null;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** Stops the retries. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
