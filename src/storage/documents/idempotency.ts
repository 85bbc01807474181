import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { type Condition, change, type DocumentStore, find, type StoredDocument } from '../ports/document-store.ts';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';

/** A key is due when it expires, and belongs to its API key; its data is the answer. `kind`: `answered`, or empty. */
interface Key {
  readonly digest: string;
  readonly owner: string;
  readonly leaseUntil: number;
  readonly isAnswered: boolean;
}

/** Maximum number of expired keys removed per claim: more than a claim adds, and few enough not to delay it. */
const SWEPT_TOGETHER = 20;
/** Number of answers that are removed at once to make room. */
const REMOVED_TOGETHER = 1000;
/**
 * The keys of an API key are counted after each addition of this part of its limit, because counting reads an index. The
 * limit may be exceeded by as much.
 */
const COUNTED_PART = 1 / 64;

export function idempotencyIn(documents: DocumentStore): IdempotencyStore {
  /** What was added for each API key since its keys were counted. */
  const uncounted = new Map<string, Amount>();

  /** Removes the oldest answers of an API key that has too many. */
  async function makeRoom(of: string, added: number, max: Amount): Promise<void> {
    const { count, bytes } = uncounted.get(of) ?? { count: 0, bytes: 0 };
    const now = { count: count + 1, bytes: bytes + added };
    uncounted.set(of, now);
    if (now.count < max.count * COUNTED_PART && now.bytes < max.bytes * COUNTED_PART) return;
    uncounted.delete(of);
    const { own } = await documents.usage('idempotency', [['of', '=', of]], of);
    const excess = { count: own.count - max.count, bytes: own.bytes - max.bytes };
    while (excess.count > 0 || excess.bytes > 0) {
      const answered: readonly Condition[] = [
        ['of', '=', of],
        ['kind', '=', 'answered'],
      ];
      const oldest = { by: 'at', limit: REMOVED_TOGETHER, isBrief: true } as const;
      const removed: string[] = [];
      for (const { id, bytes } of await documents.list('idempotency', answered, oldest)) {
        if (excess.count <= 0 && excess.bytes <= 0) break;
        removed.push(id);
        excess.count -= 1;
        excess.bytes -= bytes;
      }
      if (removed.length === 0) return;
      await documents.remove('idempotency', [['id', 'in', removed]]);
    }
  }

  async function sweep(now: number): Promise<void> {
    const expired = await documents.list('idempotency', [['due', '<=', now]], { by: 'due', limit: SWEPT_TOGETHER });
    const ids = expired.map(({ id }) => id);
    if (ids.length > 0)
      await documents.remove('idempotency', [
        ['id', 'in', ids],
        ['due', '<=', now],
      ]);
  }

  async function claim(attempt: Attempt, times = CLAIM_TIMES): Promise<Claim> {
    const id = hex(attempt.key);
    const digest = hex(attempt.digest);
    const now = await documents.now();
    await sweep(now);
    let known: Key | undefined;
    const begun = await change(documents, 'idempotency', id, (found) => {
      known = found && currentIn(found, now);
      if (known !== undefined && (known.isAnswered || known.leaseUntil > now)) return undefined;
      const key: Key = { digest, owner: attempt.owner, leaseUntil: now + times.leaseMs, isAnswered: false };
      const about = { of: attempt.client ?? '', kind: '', at: now, due: now + times.lifeMs };
      return { id, ...about, body: JSON.stringify(key) };
    });
    if (begun !== undefined) return { state: 'begun' };
    if (known?.digest !== digest) return { state: 'mismatch' };
    if (!known.isAnswered) return { state: 'in_flight' };
    const answer = await documents.data('idempotency', id);
    // It expired meanwhile.
    return answer === undefined ? claim(attempt, times) : { state: 'answered', answer };
  }

  async function changeOwn({ key, owner }: Attempt, changed: Partial<Key>, answer?: Uint8Array): Promise<void> {
    await change(documents, 'idempotency', hex(key), (found) => {
      const known = found && keyIn(found);
      if (found === undefined || known?.owner !== owner) return undefined;
      const body = JSON.stringify({ ...known, ...changed });
      return { ...found, body, ...(answer && { kind: 'answered', data: answer }) };
    });
  }

  return {
    claim,
    renew: async (attempt) => changeOwn(attempt, { leaseUntil: (await documents.now()) + ATTEMPT_LEASE_MS }),
    keep: async (attempt, answer, max = STORED_LIMITS.idempotencyKeys) => {
      await changeOwn(attempt, { isAnswered: true }, answer);
      // The answer is stored, so a failure here is of no concern to its client.
      await makeRoom(attempt.client ?? '', answer.byteLength, max).catch(() => undefined);
    },
    isClaimed: async (key) => {
      const [now, found] = await Promise.all([documents.now(), find(documents, 'idempotency', hex(key))]);
      return found !== undefined && currentIn(found, now) !== undefined;
    },
    forget: async ({ key, owner }) => {
      const found = await find(documents, 'idempotency', hex(key));
      if (found !== undefined && keyIn(found).owner === owner) {
        await documents.remove('idempotency', [
          ['id', '=', found.id],
          ['revision', '=', found.revision],
        ]);
      }
    },
  };
}

function keyIn({ body }: StoredDocument): Key {
  const key: Key = JSON.parse(body);
  return key;
}

/** The key, unless it has expired. */
function currentIn(document: StoredDocument, now: number): Key | undefined {
  return document.due !== null && document.due > now ? keyIn(document) : undefined;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
