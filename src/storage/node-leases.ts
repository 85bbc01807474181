import { type IdSource, randomNode } from './ids.ts';

/*
 * Two processes with the same node may make the same id, and the second record of an id is dropped. A node is
 * therefore leased: held for LEASE_MS after each renewal, and not lent to another before LEASE_MARGIN_MS more.
 */

/** How long a node may be used after it was last claimed or renewed. */
export const LEASE_MS = 120_000;
/** How much longer it is kept from others: covers clocks that differ and ids that ran ahead. */
export const LEASE_MARGIN_MS = 60_000;
export const LEASE_RENEWAL_MS = 30_000;

/** The port to the leases, which processes that share a database share too. */
export interface NodeLeases {
  /**
   * Leases a node number below `LEASED_NODES` that no other process holds, or renews the lease. The implementation renews
   * it by itself until it is closed. Undefined when no node is free or the database is away. Never rejects.
   */
  claim(): Promise<number | undefined>;
}

/** The node that a database has leased to this process, also known while the database is away. */
export class LeasedNode {
  #held: { readonly number: number; readonly until: number } | undefined;

  get number(): number | undefined {
    return this.#held?.number;
  }

  /** Asks for it, again and again; `ask` gives undefined when none can be had. What it rejects with changes nothing. */
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
  /** 0 <= x < 1 */
  readonly random: () => number;
  readonly intervalMs?: number;
}

export interface NodeHolder {
  /** Asks the store once, and gives the ids what it said. Never rejects. */
  refresh(): Promise<void>;
  stop(): void;
}

/**
 * Keeps the node of the ids the one that the store leased, and a random one while there is no lease: the database may
 * come late, or be away for longer than a lease lasts.
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
