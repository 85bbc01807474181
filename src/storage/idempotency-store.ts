import { LRUCache } from 'lru-cache';

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

/** Answers in memory, where there is no database: so many, and so many bytes of them. The oldest go first. */
const MAX_MEMORY = { max: 10_000, maxSize: 64 * 1024 * 1024 };

/** For a service without a database: it remembers until it is stopped, and not more than fits. */
export function createMemoryIdempotency(): IdempotencyStore {
  const underWay = new Map<string, Attempt>();
  const answered = new LRUCache<string, { readonly digest: string; readonly answer: Uint8Array }>({
    ...MAX_MEMORY,
    ttl: KEY_LIFE_MS,
    sizeCalculation: ({ answer }) => answer.length + 1,
  });
  const nameOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const end = ({ key, owner }: Attempt): boolean =>
    underWay.get(nameOf(key))?.owner === owner && underWay.delete(nameOf(key));

  return {
    claim: (attempt) => {
      const name = nameOf(attempt.key);
      const known = answered.get(name);
      const other = underWay.get(name);
      const digest = known?.digest ?? (other === undefined ? undefined : nameOf(other.digest));
      if (digest !== undefined && digest !== nameOf(attempt.digest)) return Promise.resolve({ state: 'mismatch' });
      if (known !== undefined) return Promise.resolve({ state: 'answered', answer: known.answer });
      if (other !== undefined) return Promise.resolve({ state: 'in_flight' });
      underWay.set(name, attempt);
      return Promise.resolve({ state: 'begun' });
    },
    renew: () => Promise.resolve(),
    keep: (attempt, answer) => {
      if (end(attempt)) answered.set(nameOf(attempt.key), { digest: nameOf(attempt.digest), answer });
      return Promise.resolve();
    },
    forget: (attempt) => {
      end(attempt);
      return Promise.resolve();
    },
  };
}
