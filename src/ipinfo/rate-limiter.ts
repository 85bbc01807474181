import { InvalidArgumentError } from './errors.ts';

/** A rate limiter that every send waits for. */
export interface RateLimiter {
  /** Resolves when one request may be sent. Rejects with the signal's reason as soon as the signal is aborted. */
  take(signal?: AbortSignal): Promise<void>;
}

export interface TokenBucketOptions {
  /** Tokens per second; fractions are allowed (0.01 is 36 per hour). */
  readonly ratePerSecond: number;
  /** Maximum number of unused tokens, available from the start. The default spaces requests evenly. @default 1 */
  readonly burst?: number;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

interface Waiter {
  readonly admit: () => void;
}

const MAX_TIMER_MS = 2_147_483_647;
/** Tolerance for floating-point error. */
const WHOLE_TOKEN = 1 - 1e-9;

/** A token bucket: first come, first served. A caller that stops waiting takes no token. */
export class TokenBucket implements RateLimiter {
  readonly #ratePerMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #waiting = new Set<Waiter>();
  #tokens: number;
  #filledAt: number;
  /** Runs only while callers are waiting. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TokenBucketOptions) {
    const { ratePerSecond, burst = 1, now = () => performance.now() } = options;
    if (!(Number.isFinite(ratePerSecond) && ratePerSecond > 0)) {
      throw new InvalidArgumentError(`ratePerSecond must be a number above 0, not ${ratePerSecond}.`);
    }
    if (!(Number.isFinite(burst) && burst >= 1)) {
      throw new InvalidArgumentError(`burst must be a number of at least 1, not ${burst}.`);
    }
    this.#ratePerMs = ratePerSecond / 1000;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#filledAt = now();
  }

  take(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const leave = (): void => {
        this.#waiting.delete(waiter);
        this.#admit();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        admit: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiter);
      this.#admit();
    });
  }

  #admit(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#filledAt) * this.#ratePerMs);
    this.#filledAt = now;
    for (const waiter of this.#waiting) {
      if (this.#tokens < WHOLE_TOKEN) break;
      this.#tokens = Math.max(0, this.#tokens - 1);
      this.#waiting.delete(waiter);
      waiter.admit();
    }
    if (this.#waiting.size === 0) return;
    const untilNext = Math.ceil((1 - this.#tokens) / this.#ratePerMs);
    this.#timer = setTimeout(() => this.#admit(), Math.min(untilNext, MAX_TIMER_MS));
  }
}
