import { CapstanError } from '../capture/errors.ts';
import type { CapturePhase, Timings } from '../capture/phases.ts';

/** Share of a capture's time that is kept for taking the screenshot of what is there, and its bounds. */
const SCREENSHOT_SHARE = 0.2;
const SCREENSHOT_MIN_MS = 500;
const SCREENSHOT_MAX_MS = 3_000;

/**
 * The time of one capture: when everything must be done, and when waiting for the page must end so that the screenshot
 * of what is there can still be taken. Every step races against it, and against the caller's going away.
 */
export class Deadline {
  readonly #endsAt: number;
  readonly #waitsUntil: number;
  readonly #over: Promise<never>;
  readonly #dispose: () => void;
  readonly #timings: { [phase in CapturePhase]?: number } = {};
  #phase: CapturePhase = 'open';
  #phaseSince = performance.now();
  #step = 'open the page';

  constructor(timeoutMs: number, signal: AbortSignal) {
    const reserve = Math.min(SCREENSHOT_MAX_MS, Math.max(SCREENSHOT_MIN_MS, timeoutMs * SCREENSHOT_SHARE));
    this.#endsAt = performance.now() + timeoutMs;
    this.#waitsUntil = this.#endsAt - Math.min(reserve, timeoutMs / 2);
    const { promise, reject } = Promise.withResolvers<never>();
    const late = () =>
      reject(new CapstanError('capture_timeout', `nothing could be captured within ${timeoutMs} ms (${this.#step})`));
    const gone = () => reject(new CapstanError('cancelled'));
    const timer = setTimeout(late, timeoutMs);
    signal.addEventListener('abort', gone, { once: true });
    if (signal.aborted) gone();
    // Nobody may be racing when it comes.
    promise.catch(() => undefined);
    this.#over = promise;
    this.#dispose = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    };
  }

  /** Milliseconds that are left for everything. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Milliseconds that are left for waiting; what is there then is captured. */
  get waitingMs(): number {
    return Math.max(0, this.#waitsUntil - performance.now());
  }

  /** What `work` gives, unless the deadline comes first (`capture_timeout`) or the caller goes away (`cancelled`). */
  step<T>(name: string, work: Promise<T>): Promise<T> {
    this.#step = name;
    return Promise.race([work, this.#over]);
  }

  /** The time from here on is that of `phase`. One that is entered again goes on. */
  enter(phase: CapturePhase): void {
    this.#settleAccounts();
    this.#phase = phase;
  }

  /** Whole milliseconds of each phase so far. */
  get timings(): Timings {
    this.#settleAccounts();
    return Object.fromEntries(Object.entries(this.#timings).map(([phase, ms]) => [phase, Math.round(ms)]));
  }

  #settleAccounts(): void {
    const now = performance.now();
    this.#timings[this.#phase] = (this.#timings[this.#phase] ?? 0) + now - this.#phaseSince;
    this.#phaseSince = now;
  }

  dispose(): void {
    this.#dispose();
  }
}

/** What `work` gives, or `fallback` when that takes longer than `ms`. */
export async function within<T, F>(ms: number, work: Promise<T>, fallback: F): Promise<T | F> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<F>((resolve) => {
    timer = setTimeout(resolve, ms, fallback);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
