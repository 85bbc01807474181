import type { AttemptReport, Settings } from './options.ts';

interface Running {
  readonly url: string;
  readonly startedAt: number;
  readonly startedMark: number;
  /** Milliseconds spent waiting for tokens, both before the first send and before redirects. */
  readonly waitedMs: number;
  /** Milliseconds spent waiting for tokens before redirects, that is, after the first send. */
  readonly pausedMs: number;
}

/** Counts the attempts of one operation and reports each one once, when it has ended. */
export class AttemptLog {
  readonly #settings: Settings;
  #made = 0;
  #running: Running | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Number of attempts started so far. */
  get made(): number {
    return this.#made;
  }

  /** Milliseconds that the current attempt has taken, without waits for tokens; 0 when no attempt is running. */
  get elapsedMs(): number {
    return this.#running === null ? 0 : performance.now() - this.#running.startedMark - this.#running.pausedMs;
  }

  /** Records a send, after the wait for its token. A send that follows a redirect belongs to the current attempt. */
  start(url: URL, waitedMs: number): void {
    if (this.#running !== null) {
      const { waitedMs: before, pausedMs } = this.#running;
      this.#running = { ...this.#running, waitedMs: before + waitedMs, pausedMs: pausedMs + waitedMs };
      return;
    }
    this.#made += 1;
    const place = this.#settings.redact(`${url.origin}${url.pathname}`);
    this.#running = { url: place, startedAt: Date.now(), startedMark: performance.now(), waitedMs, pausedMs: 0 };
  }

  end(outcome: Pick<AttemptReport, 'status' | 'failure' | 'retryInMs'>): void {
    if (this.#running === null) return;
    const { url, startedAt, waitedMs } = this.#running;
    const report: AttemptReport = {
      attempt: this.#made - 1,
      url,
      startedAt: new Date(startedAt).toISOString(),
      waitedMs,
      durationMs: this.elapsedMs,
      ...outcome,
    };
    this.#running = null;
    try {
      this.#settings.onAttempt(report);
    } catch {
      // An observer that throws must not break the lookup.
    }
  }
}
