import type { Amount } from '../../capture/stored-limits.ts';

/** Time to live of a key, in milliseconds. */
const KEY_LIFE_MS = 24 * 3_600_000;
/** Lease of a key in use, in milliseconds: a process that died blocks it no longer than this. */
export const ATTEMPT_LEASE_MS = 60_000;

/** All times in milliseconds. */
interface ClaimTimes {
  /** Time until another attempt may begin, unless this one is renewed or ended. */
  readonly leaseMs: number;
  /** Time until the key is removed. */
  readonly lifeMs: number;
}

export const CLAIM_TIMES: ClaimTimes = { leaseMs: ATTEMPT_LEASE_MS, lifeMs: KEY_LIFE_MS };

/** One attempt to carry out the request of a key. */
export interface Attempt {
  /** SHA-256 of the key and its scope. */
  readonly key: Uint8Array;
  /** SHA-256 of the body. */
  readonly digest: Uint8Array;
  /** Name of the API key; null without one. */
  readonly client: string | null;
  /** Identifies the attempt. */
  readonly owner: string;
}

/** `begun`: the key belongs to this attempt until it is answered or released, or its lease runs out. */
export type Claim =
  | { readonly state: 'begun' | 'in_flight' | 'mismatch' }
  | { readonly state: 'answered'; readonly answer: Uint8Array };

/**
 * The port to idempotency keys: which keys were used for what, and how they were answered, for `KEY_LIFE_MS`. Methods
 * reject with `database_unavailable` when the database is away.
 */
export interface IdempotencyStore {
  claim(attempt: Attempt, times?: ClaimTimes): Promise<Claim>;
  /** Renews the lease of a running attempt. */
  renew(attempt: Attempt): Promise<void>;
  /** Stores the answer for every later attempt. Removes the oldest answers of the API key when there are too many. */
  keep(attempt: Attempt, answer: Uint8Array, max?: Amount): Promise<void>;
  /** Whether a key is in use or answered. */
  isClaimed(key: Uint8Array): Promise<boolean>;
  /** Releases the key as if it had never been used. */
  forget(attempt: Attempt): Promise<void>;
}
