import { Binary, type Collection, type Db } from 'mongodb';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type ClaimTimes,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';
import type { Ask } from './connection.ts';
import { inMs } from './documents.ts';
import { isDuplicateKey } from './duplicate-key.ts';

interface KeyDocument {
  readonly _id: Binary;
  readonly digest: Binary;
  readonly owner: string;
  readonly lease_until: Date;
  readonly expires_at: Date;
  readonly answer: Binary | null;
}

/** Creates the index by which MongoDB removes expired keys. */
export async function prepareIdempotency(db: Db): Promise<void> {
  await keysOf(db).createIndex({ expires_at: 1 }, { name: 'by_expiry', expireAfterSeconds: 0 });
}

function keysOf(db: Db): Collection<KeyDocument> {
  return db.collection('idempotency');
}

/** Uses the server's time, because the clocks of the machines may differ. */
export function mongoIdempotency(db: Db, ask: Ask): IdempotencyStore {
  const keys = keysOf(db);
  return {
    claim: (attempt, times = CLAIM_TIMES) => ask(() => claim(keys, attempt, times)),
    renew: (attempt) =>
      ask(async () => {
        await keys.updateOne(own(attempt), [{ $set: { lease_until: inMs(ATTEMPT_LEASE_MS) } }]);
      }),
    keep: (attempt, answer) =>
      ask(async () => {
        await keys.updateOne(own(attempt), { $set: { answer: new Binary(answer) } });
      }),
    isClaimed: (key) =>
      ask(async () => {
        const current = { _id: new Binary(key), $expr: { $gt: ['$expires_at', '$$NOW'] } };
        return (await keys.findOne(current, { projection: { _id: 1 } })) !== null;
      }),
    forget: (attempt) =>
      ask(async () => {
        await keys.deleteOne(own(attempt));
      }),
  };
}

async function claim(keys: Collection<KeyDocument>, attempt: Attempt, times: ClaimTimes, again = true): Promise<Claim> {
  const { key, digest, owner } = attempt;
  // Matches a key without an owner: new, expired, or begun by a process that has ended.
  const free = {
    $or: [
      { $lte: [{ $ifNull: ['$expires_at', new Date(0)] }, '$$NOW'] },
      { $and: [{ $eq: [{ $ifNull: ['$answer', null] }, null] }, { $lte: ['$lease_until', '$$NOW'] }] },
    ],
  };
  const take = (field: string, value: unknown) => ({ $cond: [free, value, `$${field}`] });
  try {
    const found = await keys.findOneAndUpdate(
      { _id: new Binary(key) },
      [
        {
          $set: {
            digest: take('digest', new Binary(digest)),
            owner: take('owner', { $literal: owner }),
            answer: take('answer', null),
            lease_until: take('lease_until', inMs(times.leaseMs)),
            expires_at: take('expires_at', inMs(times.lifeMs)),
          },
        },
      ],
      { upsert: true, returnDocument: 'after' },
    );
    if (found === null || found.owner === owner) return { state: 'begun' };
    if (!Buffer.from(found.digest.buffer).equals(Buffer.from(digest))) return { state: 'mismatch' };
    return found.answer === null
      ? { state: 'in_flight' }
      : { state: 'answered', answer: Uint8Array.from(found.answer.buffer) };
  } catch (error) {
    // Another process created it at the same moment.
    if (again && isDuplicateKey(error)) return claim(keys, attempt, times, false);
    throw error;
  }
}

function own({ key, owner }: Attempt) {
  return { _id: new Binary(key), owner };
}
