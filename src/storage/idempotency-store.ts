/** For so long a key is remembered, in milliseconds. */
export const KEY_LIFE_MS = 24 * 3_600_000;
/** Whose process died holds a key no longer than this. */
export const ATTEMPT_LEASE_MS = 60_000;

/** In milliseconds. */
export interface ClaimTimes {
  /** Until others may begin again, when this attempt is neither renewed nor ended. */
  readonly leaseMs: number;
  /** Until the key is forgotten. */
  readonly lifeMs: number;
}

export const CLAIM_TIMES: ClaimTimes = { leaseMs: ATTEMPT_LEASE_MS, lifeMs: KEY_LIFE_MS };

/** One attempt at what a key stands for. */
export interface Attempt {
  /** SHA-256 of the key and what it is scoped by. */
  readonly key: Uint8Array;
  /** SHA-256 of the body. */
  readonly digest: Uint8Array;
  /** The attempt's own name. */
  readonly owner: string;
}

/** `begun`: the key is this attempt's until it is kept or forgotten, or its lease runs out. */
export type Claim =
  | { readonly state: 'begun' | 'in_flight' | 'mismatch' }
  | { readonly state: 'answered'; readonly answer: Uint8Array };

/**
 * Which keys were used for what, and how that was answered, for `KEY_LIFE_MS`. Methods reject with
 * `database_unavailable` when the database is away.
 */
export interface IdempotencyStore {
  claim(attempt: Attempt, times?: ClaimTimes): Promise<Claim>;
  /** Lengthens the lease of an attempt that is under way. */
  renew(attempt: Attempt): Promise<void>;
  /** What every later attempt is answered with. */
  keep(attempt: Attempt, answer: Uint8Array): Promise<void>;
  /** As if it had never been begun. */
  forget(attempt: Attempt): Promise<void>;
}
