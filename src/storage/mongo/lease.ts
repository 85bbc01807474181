import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { CapstanError } from '../../capture/errors.ts';
import type { HeldLock } from '../ports/lock.ts';
import type { Ask } from './connection.ts';
import { inMs } from './documents.ts';

/* Locks of one process among those that share a database, by the server's clock. */

/** Time after which the lock of a process that died is free, in milliseconds. */
const LEASE_MS = 60_000;
const RENEWAL_MS = 15_000;
/** Interval at which a lease that is held is asked for again, and the maximum time for it, in milliseconds. */
const POLL_MS = 20;
const MAX_WAIT_MS = 10_000;

interface LeaseDocument {
  readonly _id: string;
  readonly owner: string;
  readonly until: Date;
}

export interface HeldLease extends HeldLock {
  /** The server's time when the lease was taken. */
  readonly since: Date;
  release(): Promise<void>;
}

/** Returns a function that takes a lease; it resolves with undefined when it is held or the database is away. */
export function mongoLease(database: Db, ask: Ask, name: string): () => Promise<HeldLease | undefined> {
  return () => takeLease(database, ask, name).catch(() => undefined);
}

/** Takes a lease; resolves with undefined when it is held. */
export async function takeLease(database: Db, ask: Ask, name: string): Promise<HeldLease | undefined> {
  const leases: Collection<LeaseDocument> = database.collection('leases');
  const owner = randomUUID();
  const askedAt = performance.now();
  const until = await ask(() => claim(leases, name, owner));
  return until === undefined ? undefined : held(leases, ask, { name, owner, until, askedAt });
}

/**
 * Returns a function that runs work under a lease, one after another in all processes: what is counted before something
 * is added stays true until it is added. It rejects with `database_unavailable` when another process holds the lease for
 * long, as one that was killed does.
 */
export function inTurn(database: Db, ask: Ask, name: string): Ask {
  let last: Promise<unknown> = Promise.resolve();
  const underLease: Ask = async (work) => {
    const until = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const lease = await takeLease(database, ask, name);
      try {
        if (lease !== undefined) return await ask(work);
      } finally {
        await lease?.release();
      }
      if (performance.now() > until) {
        throw new CapstanError('database_unavailable', `Another process is still adding to the ${name}.`);
      }
      await delay(POLL_MS);
    }
  };
  return (work) => {
    const turn = last.then(() => underLease(work));
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Takes the lease, and resolves with its end. */
async function claim(leases: Collection<LeaseDocument>, name: string, owner: string): Promise<Date | undefined> {
  // An upsert cannot compare with the server's time.
  await leases.updateOne({ _id: name }, { $setOnInsert: { owner: '', until: new Date(0) } }, { upsert: true });
  const isFree = { _id: name, $expr: { $lte: ['$until', '$$NOW'] } };
  const claimed = await leases.findOneAndUpdate(isFree, [leaseTo(owner)], { returnDocument: 'after' });
  return claimed?.until;
}

function leaseTo(owner: string) {
  return { $set: { owner: { $literal: owner }, until: inMs(LEASE_MS) } };
}

interface Claimed {
  readonly name: string;
  readonly owner: string;
  readonly until: Date;
  readonly askedAt: number;
}

function held(leases: Collection<LeaseDocument>, ask: Ask, { name, owner, until, askedAt }: Claimed): HeldLease {
  let lastUntil = askedAt + LEASE_MS;
  const renew = async () => {
    const renewedAt = performance.now();
    const { matchedCount } = await ask(() => leases.updateOne({ _id: name, owner }, [leaseTo(owner)]));
    lastUntil = matchedCount === 0 ? Number.NEGATIVE_INFINITY : renewedAt + LEASE_MS;
  };
  // If renewing fails, the lease runs out.
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEWAL_MS).unref();
  return {
    since: new Date(until.getTime() - LEASE_MS),
    get isHeld() {
      return performance.now() < lastUntil;
    },
    release: async () => {
      clearInterval(renewal);
      lastUntil = Number.NEGATIVE_INFINITY;
      await ask(() => leases.updateOne({ _id: name, owner }, { $set: { until: new Date(0) } })).catch(() => undefined);
    },
  };
}
