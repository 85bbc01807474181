import { CapstanError } from './errors.ts';
import type { CapturePhase } from './phases.ts';
import type { Timings } from './result/timings.ts';

/** Share of a capture's time that is reserved for taking the screenshot, and the bounds of this reserve. */
const SCREENSHOT_SHARE = 0.2;
const SCREENSHOT_MIN_MS = 1_000;
const SCREENSHOT_MAX_MS = 5_000;

/**
 * The deadline of one capture, and the earlier time at which waiting for the page ends, so that the screenshot can
 * still be taken. Every step races against the deadline and against cancellation by the caller.
 */
export class Deadline {
  /** Milliseconds that are reserved for the screenshot. */
  readonly reserveMs: number;
  readonly #startedAt = performance.now();
  readonly #endsAt: number;
  readonly #waitsUntil: number;
  readonly #over: Promise<never>;
  readonly #dispose: () => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #onPhase: (phase: CapturePhase) => void;
  readonly #timings: { [phase in CapturePhase]?: number } = {};
  #phase: CapturePhase = 'open';
  #phaseSince = performance.now();
  #step = 'open the page';

  /** `earlierMs`: part of `timeoutMs` that has passed before. */
  constructor(
    timeoutMs: number,
    signal: AbortSignal,
    onPhase: (phase: CapturePhase) => void = () => {},
    earlierMs = 0,
  ) {
    const leftMs = Math.max(1, Math.ceil(timeoutMs - earlierMs));
    this.reserveMs = reserveOf(leftMs);
    this.#endsAt = performance.now() + leftMs;
    this.#waitsUntil = this.#endsAt - this.reserveMs;
    this.#onPhase = onPhase;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = () =>
      reject(new CapstanError('capture_timeout', `nothing could be captured within ${timeoutMs} ms (${this.#step})`));
    const gone = () => reject(new CapstanError('cancelled'));
    this.#timers.push(setTimeout(late, leftMs));
    signal.addEventListener('abort', gone, { once: true });
    if (signal.aborted) gone();
    // Prevents an unhandled rejection when no step is in progress.
    promise.catch(() => undefined);
    this.#over = promise;
    this.#dispose = () => {
      for (const timer of this.#timers) clearTimeout(timer);
      signal.removeEventListener('abort', gone);
    };
  }

  /** Milliseconds since the start. */
  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Milliseconds until the deadline. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Milliseconds until waiting ends and the page is captured as it is. */
  get waitingMs(): number {
    return Math.max(0, this.#waitsUntil - performance.now());
  }

  /**
   * Returns the result of `work`. Rejects with `capture_timeout` at the deadline, and with `cancelled` when the caller
   * cancels.
   */
  step<T>(name: string, work: Promise<T>): Promise<T> {
    this.#step = name;
    return Promise.race([work, this.#over]);
  }

  /** Resolves `beforeMs` before the deadline, or never when the capture ends earlier. */
  comes(beforeMs: number): Promise<void> {
    return new Promise((resolve) => this.#timers.push(setTimeout(resolve, Math.max(0, this.remainingMs - beforeMs))));
  }

  /** The current phase. */
  get phase(): CapturePhase {
    return this.#phase;
  }

  /** Counts the time from now on as that of `phase`. A phase that is entered again continues. */
  enter(phase: CapturePhase): void {
    this.#settleAccounts();
    this.#phase = phase;
    this.#onPhase(phase);
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

/** Returns how much of a capture's time is reserved for the screenshot, in milliseconds. */
export function reserveOf(timeoutMs: number): number {
  const reserve = Math.min(SCREENSHOT_MAX_MS, Math.max(SCREENSHOT_MIN_MS, timeoutMs * SCREENSHOT_SHARE));
  return Math.min(reserve, timeoutMs / 2);
}

/** Returns the result of `work`, or `fallback` when it takes longer than `ms`. */
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
