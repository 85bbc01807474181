import type { DatabaseSync } from 'node:sqlite';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';
import type { Synchronous } from './remote.ts';
import { inTransaction } from './transaction.ts';

/** Maximum number of expired keys removed per claim: more than a claim adds, and few enough not to delay it. */
const SWEPT_TOGETHER = 20;

/** Runs in the worker. */
export function idempotencyTable(db: DatabaseSync): Synchronous<IdempotencyStore> {
  const find = db.prepare('SELECT digest, lease_until, expires_at, answer FROM idempotency WHERE key = ?');
  const sweep = db.prepare(
    `DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ${SWEPT_TOGETHER})`,
  );
  const begin = db.prepare(
    'INSERT OR REPLACE INTO idempotency (key, digest, owner, lease_until, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const renew = db.prepare('UPDATE idempotency SET lease_until = ? WHERE key = ? AND owner = ?');
  const keep = db.prepare('UPDATE idempotency SET answer = ? WHERE key = ? AND owner = ?');
  const claimed = db.prepare('SELECT 1 FROM idempotency WHERE key = ? AND expires_at > ?');
  const forget = db.prepare('DELETE FROM idempotency WHERE key = ? AND owner = ?');

  function claim({ key, digest, owner }: Attempt, { leaseMs, lifeMs } = CLAIM_TIMES): Claim {
    const nowMs = Date.now();
    return inTransaction(db, () => {
      sweep.run(nowMs);
      const row = find.get(key);
      const answer = row?.answer instanceof Uint8Array ? row.answer : null;
      let found: Claim = { state: 'begun' };
      if (row !== undefined && Number(row.expires_at) > nowMs && (answer !== null || Number(row.lease_until) > nowMs)) {
        if (!(row.digest instanceof Uint8Array && Buffer.from(digest).equals(row.digest)))
          found = { state: 'mismatch' };
        else found = answer === null ? { state: 'in_flight' } : { state: 'answered', answer };
      } else {
        begin.run(key, digest, owner, nowMs + leaseMs, nowMs + lifeMs);
      }
      return found;
    });
  }

  return {
    claim,
    renew: ({ key, owner }) => {
      renew.run(Date.now() + ATTEMPT_LEASE_MS, key, owner);
    },
    keep: ({ key, owner }, answer) => {
      keep.run(answer, key, owner);
    },
    isClaimed: (key) => claimed.get(key, Date.now()) !== undefined,
    forget: ({ key, owner }) => {
      forget.run(key, owner);
    },
  };
}
