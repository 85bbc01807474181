import { LEASE_MS, LEASE_RENEWAL_MS, type NodeLeases } from '../ports/node-leases.ts';
import { type IdSource, randomNode } from './ids.ts';

/** The leases of one process in a database. Both methods reject when the database is away. */
export interface NodeTable {
  /** Claims the owner's node again, or a free one; undefined when other processes hold all of them. */
  claim(): Promise<number | undefined>;
  /** Returns the owner's node. */
  release(): Promise<void>;
}

/** The node leased to this process, known even while the database is away. */
export class LeasedNode implements NodeLeases {
  readonly #table: NodeTable;
  #held: { readonly number: number; readonly until: number } | undefined;

  constructor(table: NodeTable) {
    this.#table = table;
  }

  async claim(): Promise<number | undefined> {
    const asked = Date.now();
    try {
      const number = await this.#table.claim();
      this.#held = number === undefined ? undefined : { number, until: asked + LEASE_MS };
    } catch {
      if (this.#held !== undefined && this.#held.until < asked) this.#held = undefined;
    }
    return this.#held?.number;
  }

  /** Never rejects: a lease that is not returned runs out. */
  async release(): Promise<void> {
    if (this.#held !== undefined) await this.#table.release().catch(() => undefined);
    this.#held = undefined;
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
