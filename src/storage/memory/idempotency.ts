import { LRUCache } from 'lru-cache';
import { type Attempt, type IdempotencyStore, KEY_LIFE_MS } from '../ports/idempotency-store.ts';

/**
 * Limits for answers in memory, where there is no database: their number and their bytes. The oldest are removed first,
 * and only those of the same API key.
 */
const MAX_WITHOUT_KEY = { max: 10_000, maxSize: 64 * 1024 * 1024 };
const MAX_OF_KEY = { max: 1_000, maxSize: 16 * 1024 * 1024 };

interface Answered {
  readonly digest: string;
  readonly answer: Uint8Array;
}

/** Stores idempotency keys in memory, for a service without a database: until it stops, and within the limits. */
export function createMemoryIdempotency(): IdempotencyStore {
  const underWay = new Map<string, Attempt>();
  const answeredTo = new Map<string | null, LRUCache<string, Answered>>();
  const answersTo = (client: string | null): LRUCache<string, Answered> => {
    const sizeCalculation = ({ answer }: Answered) => answer.length + 1;
    const limits = client === null ? MAX_WITHOUT_KEY : MAX_OF_KEY;
    const answers = answeredTo.get(client) ?? new LRUCache({ ...limits, ttl: KEY_LIFE_MS, sizeCalculation });
    answeredTo.set(client, answers);
    return answers;
  };
  const nameOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const end = ({ key, owner }: Attempt): boolean =>
    underWay.get(nameOf(key))?.owner === owner && underWay.delete(nameOf(key));

  return {
    claim: (attempt) => {
      const name = nameOf(attempt.key);
      const known = answersTo(attempt.client).get(name);
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
      if (end(attempt)) answersTo(attempt.client).set(nameOf(attempt.key), { digest: nameOf(attempt.digest), answer });
      return Promise.resolve();
    },
    isClaimed: (key) => {
      const name = nameOf(key);
      return Promise.resolve(underWay.has(name) || [...answeredTo.values()].some((answers) => answers.has(name)));
    },
    forget: (attempt) => {
      end(attempt);
      return Promise.resolve();
    },
  };
}
