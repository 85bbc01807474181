import { LRUCache } from 'lru-cache';
import { type Attempt, type IdempotencyStore, KEY_LIFE_MS } from '../ports/idempotency-store.ts';

/**
 * Limits for answers in memory, where there is no database: their number and their bytes. The oldest are removed first.
 */
const MAX_MEMORY = { max: 10_000, maxSize: 64 * 1024 * 1024 };

/** Stores idempotency keys in memory, for a service without a database: until it stops, and within `MAX_MEMORY`. */
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
