import { LEASE_RENEWAL_MS, type NodeLeases } from '../ports/node-leases.ts';
import { type IdSource, randomNode } from './ids.ts';

export interface NodeHolderOptions {
  readonly ids: IdSource;
  readonly leases: NodeLeases;
  /** Returns 0 <= x < 1. */
  readonly random: () => number;
  readonly intervalMs?: number;
}

export interface NodeHolder {
  /** Asks the store once, and passes the answer to the ids. Never rejects. */
  refresh(): Promise<void>;
  stop(): void;
}

/**
 * Keeps the id source on the leased node, and on a random one while there is no lease: the database may start late, or
 * be away for longer than a lease lasts.
 */
export function holdNode({ ids, leases, random, intervalMs = LEASE_RENEWAL_MS }: NodeHolderOptions): NodeHolder {
  let leased = false;
  const refresh = async () => {
    const node = await leases.claim();
    if (node !== undefined) ids.setNode(node);
    else if (leased) ids.setNode(randomNode(random));
    leased = node !== undefined;
  };
  const timer = setInterval(refresh, intervalMs);
  timer.unref();
  return { refresh, stop: () => clearInterval(timer) };
}
