import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError } from '../../capture/errors.ts';
import { change, type DocumentStore } from '../ports/document-store.ts';
import type { HeldLock } from '../ports/lock.ts';

/* Locks of one process among those that share a database. A lease is due when it is free; its kind is its owner. */

/** Time after which the lease of a process that died is free, in milliseconds. */
const LEASE_MS = 60_000;
const RENEWAL_MS = 15_000;
/** Interval between attempts to take a lease that is held, and the time limit for all of them, in milliseconds. */
const POLL_MS = 20;
const MAX_WAIT_MS = 10_000;

export interface HeldLease extends HeldLock {
  /** Time of the database when the lease was taken. */
  readonly since: number;
  release(): Promise<void>;
}

/** Takes a lease; resolves with undefined when it is held. */
export async function takeLease(documents: DocumentStore, name: string): Promise<HeldLease | undefined> {
  const owner = randomUUID();
  const askedAt = performance.now();
  const since = await documents.now();
  const lease = { id: name, of: '', kind: owner, at: 0, due: since + LEASE_MS, body: '' };
  const taken = await change(documents, 'leases', name, (found) => ((found?.due ?? 0) > since ? undefined : lease));
  if (taken === undefined) return undefined;
  let lastUntil = askedAt + LEASE_MS;
  const changeOwn = (changed: { readonly kind?: string; readonly due: number }) =>
    change(documents, 'leases', name, (found) => (found?.kind === owner ? { ...found, ...changed } : undefined));
  const renew = async () => {
    const renewedAt = performance.now();
    const renewed = await changeOwn({ due: (await documents.now()) + LEASE_MS });
    lastUntil = renewed === undefined ? Number.NEGATIVE_INFINITY : renewedAt + LEASE_MS;
  };
  // If renewing fails, the lease runs out.
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEWAL_MS).unref();
  return {
    since,
    get isHeld() {
      return performance.now() < lastUntil;
    },
    release: async () => {
      clearInterval(renewal);
      lastUntil = Number.NEGATIVE_INFINITY;
      // Removes the owner, too, so that a renewal that is under way does not take it again.
      await changeOwn({ kind: '', due: 0 }).catch(() => undefined);
    },
  };
}

/**
 * Returns a function that runs work under a lease, one after another in all processes, so nothing is added between
 * counting and adding. Rejects with `database_unavailable` when another process holds the lease for too long,
 * for example after it was killed.
 */
export function withLease(documents: DocumentStore, name: string): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  const underLease = async (work: () => Promise<void>): Promise<void> => {
    const until = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const lease = await takeLease(documents, name);
      try {
        if (lease !== undefined) return await work();
      } finally {
        await lease?.release();
      }
      if (performance.now() > until) {
        throw new CapstanError('database_unavailable', `Another process holds the lease of ${name}.`);
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
