import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';
import { change, find, whereKey } from './find-and-change.ts';
import { changeOwn, renew } from './lease.ts';
import { makeRoom } from './make-room.ts';

type Key = StoredDocument<'idempotency'>;

/** Maximum number of expired keys removed per claim: more than a claim adds, and few enough not to delay it. */
const SWEPT_TOGETHER = 20;
/** Number of answers that are removed at once to make room. */
const REMOVED_TOGETHER = 1000;
/**
 * The keys of an API key are counted after each addition of this part of its limit, because counting reads an index.
 * The limit may be exceeded by as much.
 */
const COUNTED_PART = 1 / 64;

export function idempotencyIn(documents: DocumentStore): IdempotencyStore {
  /** Amount added for each API key since its idempotency keys were counted. */
  const uncounted = new Map<string, Amount>();

  /** Removes the oldest answers of an API key that has too many. */
  async function makeRoomOf(apiKey: string, added: number, max: Amount): Promise<void> {
    const { count, bytes } = uncounted.get(apiKey) ?? { count: 0, bytes: 0 };
    const now = { count: count + 1, bytes: bytes + added };
    uncounted.set(apiKey, now);
    if (now.count < max.count * COUNTED_PART && now.bytes < max.bytes * COUNTED_PART) return;
    uncounted.delete(apiKey);
    await makeRoom(documents, {
      table: 'idempotency',
      counted: whereKey(apiKey),
      removable: [...whereKey(apiKey), ['state', '=', 'answered']],
      by: 'createdAt',
      together: REMOVED_TOGETHER,
      max,
    });
  }

  async function sweep(now: number): Promise<void> {
    const isExpired = ['expiresAt', '<=', now] as const;
    const expired = await documents.list('idempotency', [isExpired], { by: 'expiresAt', limit: SWEPT_TOGETHER });
    const ids = expired.map(({ id }) => id);
    if (ids.length > 0) await documents.remove('idempotency', [['id', 'in', ids], isExpired]);
  }

  async function claim(attempt: Attempt, times = CLAIM_TIMES): Promise<Claim> {
    const id = hex(attempt.key);
    const digest = hex(attempt.digest);
    const now = await documents.now();
    await sweep(now);
    let known: Key | undefined;
    const begun = await change(documents, 'idempotency', id, (found) => {
      known = found && currentIn(found, now);
      if (known !== undefined && (isAnswered(known) || known.freeAt > now)) return undefined;
      const lease = { owner: attempt.owner, freeAt: now + times.leaseMs };
      const about = { apiKey: attempt.client ?? '', state: 'begun', createdAt: now, expiresAt: now + times.lifeMs };
      return { id, ...lease, ...about, body: digest };
    });
    if (begun !== undefined) return { state: 'begun' };
    if (known?.body !== digest) return { state: 'mismatch' };
    if (!isAnswered(known)) return { state: 'in_flight' };
    const answer = await documents.data('idempotency', id);
    // It expired meanwhile.
    return answer === undefined ? claim(attempt, times) : { state: 'answered', answer };
  }

  return {
    claim,
    renew: async ({ key, owner }) => {
      await renew(documents, 'idempotency', hex(key), owner, ATTEMPT_LEASE_MS);
    },
    keep: async ({ key, owner, client }, answer, max = STORED_LIMITS.idempotencyKeys) => {
      const answered = { state: 'answered', data: answer } as const;
      await changeOwn(documents, 'idempotency', hex(key), owner, (found) => ({ ...found, ...answered }));
      // The answer is stored, so a failure here is of no concern to its client.
      await makeRoomOf(client ?? '', answer.byteLength, max).catch(() => undefined);
    },
    isClaimed: async (key) => {
      const [now, found] = await Promise.all([documents.now(), find(documents, 'idempotency', hex(key))]);
      return found !== undefined && currentIn(found, now) !== undefined;
    },
    forget: async ({ key, owner }) => {
      const found = await find(documents, 'idempotency', hex(key));
      if (found !== undefined && found.owner === owner) {
        await documents.remove('idempotency', [
          ['id', '=', found.id],
          ['revision', '=', found.revision],
        ]);
      }
    },
  };
}

function isAnswered({ state }: Key): boolean {
  return state === 'answered';
}

/** The key, unless it has expired. */
function currentIn(key: Key, now: number): Key | undefined {
  return key.expiresAt > now ? key : undefined;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
