import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../../capture/errors.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { HeldLock } from '../ports/lock.ts';
import { change } from './find-and-change.ts';
import { release, renew } from './lease.ts';

/* Locks of one process among those that share a database: leases of documents that have nothing else. */

/** Time after which the lock of a process that died is free, and interval of renewals, in milliseconds. */
const LEASE = { leaseMs: 60_000, renewalMs: 15_000 };
/** Interval between attempts to take a lock that is held, and the time limit for all of them, in milliseconds. */
const POLL_MS = 20;
const MAX_WAIT_MS = 10_000;
/** The lock of additions: documents are counted before one is added. */
const ADDITIONS = 'additions';

interface SharedLock extends HeldLock {
  release(): Promise<void>;
}

/** Takes a lock; resolves with undefined when it is held. */
export async function takeLock(
  documents: DocumentStore,
  name: string,
  { leaseMs, renewalMs } = LEASE,
): Promise<SharedLock | undefined> {
  const owner = randomUUID();
  const askedAt = performance.now();
  const now = await documents.now();
  const lock = { id: name, owner, freeAt: now + leaseMs, body: '' };
  const taken = await change(documents, 'locks', name, (found) => ((found?.freeAt ?? 0) > now ? undefined : lock));
  if (taken === undefined) return undefined;
  let lastUntil = askedAt + leaseMs;
  const renewLock = async () => {
    const renewedAt = performance.now();
    const isRenewed = await renew(documents, 'locks', name, owner, leaseMs);
    lastUntil = isRenewed ? renewedAt + leaseMs : Number.NEGATIVE_INFINITY;
  };
  // If renewing fails, the lease runs out.
  const renewal = setInterval(() => void renewLock().catch(() => undefined), renewalMs).unref();
  return {
    get isHeld() {
      return performance.now() < lastUntil;
    },
    release: async () => {
      clearInterval(renewal);
      lastUntil = Number.NEGATIVE_INFINITY;
      await release(documents, 'locks', name, owner).catch(() => undefined);
    },
  };
}

/**
 * Returns a function that runs additions one after another in all processes, so nothing is added between counting and
 * adding. Rejects with `database_unavailable` when another process holds the lock for too long, for example after it
 * was killed.
 */
export function withLock(documents: DocumentStore): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  const underLock = async <T>(work: () => Promise<T>): Promise<T> => {
    const until = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const lock = await takeLock(documents, ADDITIONS);
      try {
        if (lock !== undefined) return await work();
      } finally {
        await lock?.release();
      }
      if (performance.now() > until) {
        throw new CapstanError('database_unavailable', `Another process holds the lock of ${ADDITIONS}.`);
      }
      await delay(POLL_MS);
    }
  };
  return (work) => {
    const turn = last.then(() => underLock(work));
    last = turn.catch(() => undefined);
    return turn;
  };
}
