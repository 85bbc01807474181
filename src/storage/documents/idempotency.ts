import { change, type DocumentStore, find, type StoredDocument } from '../ports/document-store.ts';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';

/** A key is due when it expires; its bytes are the answer. */
interface Key {
  readonly digest: string;
  readonly owner: string;
  readonly leaseUntil: number;
  readonly isAnswered: boolean;
}

/** Maximum number of expired keys removed per claim: more than a claim adds, and few enough not to delay it. */
const SWEPT_TOGETHER = 20;

export function idempotencyIn(documents: DocumentStore): IdempotencyStore {
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
      return { id, of: '', kind: '', at: 0, due: now + times.lifeMs, body: JSON.stringify(key) };
    });
    if (begun !== undefined) return { state: 'begun' };
    if (known?.digest !== digest) return { state: 'mismatch' };
    if (!known.isAnswered) return { state: 'in_flight' };
    const answer = await documents.data('idempotency', id);
    // It expired meanwhile.
    return answer === undefined ? claim(attempt, times) : { state: 'answered', answer };
  }

  async function changeOwn({ key, owner }: Attempt, changed: Partial<Key>, data?: Uint8Array): Promise<void> {
    await change(documents, 'idempotency', hex(key), (found) => {
      const known = found && keyIn(found);
      return found && known?.owner === owner
        ? { ...found, body: JSON.stringify({ ...known, ...changed }), data }
        : undefined;
    });
  }

  return {
    claim,
    renew: async (attempt) => changeOwn(attempt, { leaseUntil: (await documents.now()) + ATTEMPT_LEASE_MS }),
    keep: (attempt, answer) => changeOwn(attempt, { isAnswered: true }, answer),
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
