import type { DatabaseSync } from 'node:sqlite';
import {
  ATTEMPT_LEASE_MS,
  type Attempt,
  CLAIM_TIMES,
  type Claim,
  type ClaimTimes,
  type IdempotencyStore,
} from '../ports/idempotency-store.ts';
import type { AskFor, Handlers } from './calls.ts';
import { inTransaction } from './transaction.ts';

export interface IdempotencyCalls {
  claimKey: { args: { readonly attempt: Attempt; readonly times: ClaimTimes }; answer: Claim };
  renewKey: { args: { readonly attempt: Attempt }; answer: null };
  keepAnswer: { args: { readonly attempt: Attempt; readonly answer: Uint8Array }; answer: null };
  forgetKey: { args: { readonly attempt: Attempt }; answer: null };
}

/** Maximum number of expired keys removed per claim: more than a claim adds, and few enough not to delay it. */
const SWEPT_TOGETHER = 20;

/** Returns an idempotency store that calls the worker thread. */
export function sqliteIdempotency(ask: AskFor<IdempotencyCalls>): IdempotencyStore {
  return {
    claim: (attempt, times = CLAIM_TIMES) => ask('claimKey', { attempt, times }),
    renew: async (attempt) => {
      await ask('renewKey', { attempt });
    },
    keep: async (attempt, answer) => {
      await ask('keepAnswer', { attempt, answer });
    },
    forget: async (attempt) => {
      await ask('forgetKey', { attempt });
    },
  };
}

/** Runs in the worker. */
export function idempotencyTable(db: DatabaseSync): Handlers<IdempotencyCalls> {
  const find = db.prepare('SELECT digest, lease_until, expires_at, answer FROM idempotency WHERE key = ?');
  const sweep = db.prepare(
    `DELETE FROM idempotency WHERE key IN (SELECT key FROM idempotency WHERE expires_at <= ? LIMIT ${SWEPT_TOGETHER})`,
  );
  const begin = db.prepare(
    'INSERT OR REPLACE INTO idempotency (key, digest, owner, lease_until, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const renew = db.prepare('UPDATE idempotency SET lease_until = ? WHERE key = ? AND owner = ?');
  const keep = db.prepare('UPDATE idempotency SET answer = ? WHERE key = ? AND owner = ?');
  const forget = db.prepare('DELETE FROM idempotency WHERE key = ? AND owner = ?');

  function claim({ key, digest, owner }: Attempt, { leaseMs, lifeMs }: ClaimTimes, nowMs: number): Claim {
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
    claimKey: ({ attempt, times }, nowMs) => claim(attempt, times, nowMs),
    renewKey: ({ attempt: { key, owner } }, nowMs) => {
      renew.run(nowMs + ATTEMPT_LEASE_MS, key, owner);
      return null;
    },
    keepAnswer: ({ attempt: { key, owner }, answer }) => {
      keep.run(answer, key, owner);
      return null;
    },
    forgetKey: ({ attempt: { key, owner } }) => {
      forget.run(key, owner);
      return null;
    },
  };
}
