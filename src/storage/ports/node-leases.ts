import { type IdSource, randomNode } from '../records/ids.ts';

/*
 * Two processes with the same node could generate the same id, and the second record of an id is dropped. A node is
 * therefore leased: it is held for LEASE_MS after each renewal, and no other process can lease it until LEASE_MARGIN_MS
 * later.
 */

/** Time that a node may be used after it was claimed or renewed, in milliseconds. */
export const LEASE_MS = 120_000;
/**
 * Additional time until another process may have it, in milliseconds: covers clock differences and ids that ran ahead.
 */
export const LEASE_MARGIN_MS = 60_000;
export const LEASE_RENEWAL_MS = 30_000;

/** The port to the leases, shared by the processes that share a database. */
export interface NodeLeases {
  /**
   * Leases a node below `LEASED_NODES` that no other process holds, or renews the lease. The implementation renews it
   * until it is closed. Undefined when no node is free or the database is away. Never rejects.
   */
  claim(): Promise<number | undefined>;
}

/** The node leased to this process, known even while the database is away. */
export class LeasedNode {
  #held: { readonly number: number; readonly until: number } | undefined;

  get number(): number | undefined {
    return this.#held?.number;
  }

  /**
   * Requests and renews the lease periodically; `ask` returns undefined when no node is free. A rejection changes
   * nothing.
   */
  async renew(ask: () => Promise<number | undefined>): Promise<number | undefined> {
    const asked = Date.now();
    try {
      const number = await ask();
      this.#held = number === undefined ? undefined : { number, until: asked + LEASE_MS };
    } catch {
      if (this.#held !== undefined && this.#held.until < asked) this.#held = undefined;
    }
    return this.number;
  }
}

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
export function holdNode({ ids, leases, random, intervalMs = LEASE_RENEWAL_MS / 2 }: NodeHolderOptions): NodeHolder {
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
