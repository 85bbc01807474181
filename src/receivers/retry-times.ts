/** When failed attempts are made again. Times are in milliseconds. */
export interface RetryTimes {
  /** Pause before the first retry; doubled for each further one. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Age of an event after which its message is given up. */
  readonly giveUpAfterMs: number;
  /** Number of attempts, or of failures in a row of its receiver, before a message is given up. */
  readonly minAttempts: number;
}

/** A receiver that is away for a day misses nothing. At most about 110 attempts are made of each message. */
export const RETRY_TIMES: RetryTimes = {
  firstMs: 1_000,
  maxMs: 15 * 60_000,
  giveUpAfterMs: 26 * 3_600_000,
  minAttempts: 8,
};

/** Returns the pause after a number of failures. `random`: 0 <= x < 1, so that messages do not return together. */
export function pauseAfter(failures: number, { firstMs, maxMs }: RetryTimes, random: number): number {
  return Math.ceil(Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs) * (0.5 + random / 2));
}
