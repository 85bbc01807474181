import { randomUUID } from 'node:crypto';
import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import { type IdSource, LEASED_NODES, randomNode } from '../records/ids.ts';
import { FREE, release } from './lease.ts';

/*
 * Two processes with the same node could generate the same id, and the second record of an id is dropped. A node is
 * therefore leased: it is held for LEASE_MS after each renewal, and no other process can lease it until LEASE_MARGIN_MS
 * later.
 */

/** Time that a node may be used after it was claimed or renewed, in milliseconds. */
const LEASE_MS = 120_000;
/**
 * Additional time until another process may have it, in milliseconds: covers clock differences and ids that ran ahead.
 */
const LEASE_MARGIN_MS = 60_000;
const LEASE_RENEWAL_MS = 15_000;
/** Time until a returned node is leased again, in milliseconds, because the clock may step back a little. */
const RELEASED_MS = 1000;

/** The node leased to this process, known even while the database is away. */
export class LeasedNode {
  readonly #documents: DocumentStore;
  readonly #owner = randomUUID();
  #held: { readonly number: number; readonly until: number } | undefined;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /**
   * Leases a node below `LEASED_NODES` that no other process holds, or renews the lease. Undefined when no node is
   * free, or the database has been away for longer than a lease lasts. Never rejects.
   */
  async claim(): Promise<number | undefined> {
    const asked = Date.now();
    try {
      const number = await this.#take();
      this.#held = number === undefined ? undefined : { number, until: asked + LEASE_MS };
    } catch {
      if (this.#held !== undefined && this.#held.until < asked) this.#held = undefined;
    }
    return this.#held?.number;
  }

  /** Never rejects: a lease that is not returned runs out. */
  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held === undefined) return;
    try {
      const freeAt = (await this.#documents.now()) + RELEASED_MS;
      await release(this.#documents, 'nodes', idOf(held.number), this.#owner, freeAt);
    } catch {
      // It runs out.
    }
  }

  /** Takes the previous node of this process again, otherwise the one that was free longest; undefined for none. */
  async #take(): Promise<number | undefined> {
    for (;;) {
      const now = await this.#documents.now();
      const nodes = await this.#nodes();
      const [longestFree] = nodes.filter(({ freeAt }) => freeAt <= now);
      const node = nodes.find(({ owner }) => owner === this.#owner) ?? longestFree;
      if (node === undefined) return undefined;
      const taken = { ...node, owner: this.#owner, freeAt: now + LEASE_MS + LEASE_MARGIN_MS };
      // Another process may have taken it meanwhile.
      if (await this.#documents.replace('nodes', taken, node.revision)) return Number(node.id);
    }
  }

  /** Returns all nodes, sorted by the time at which they are free. */
  async #nodes(): Promise<readonly StoredDocument<'nodes'>[]> {
    const nodes = await this.#documents.list('nodes', [], { by: 'freeAt' });
    if (nodes.length === LEASED_NODES) return nodes;
    const missing = Array.from({ length: LEASED_NODES }, (_, node) => ({ ...FREE, id: idOf(node), body: '' }));
    await this.#documents.add('nodes', missing);
    return this.#nodes();
  }
}

/** Sorts as the number does. */
function idOf(node: number): string {
  return String(node).padStart(2, '0');
}

interface NodeHolderOptions {
  readonly ids: IdSource;
  readonly leases: Pick<LeasedNode, 'claim'>;
  /** Returns 0 <= x < 1. */
  readonly random: () => number;
  readonly intervalMs?: number;
}

/**
 * Keeps the id source on the leased node, and on a random one while there is no lease: the database may start late, or
 * be away for longer than a lease lasts.
 */
export function holdNode({ ids, leases, random, intervalMs = LEASE_RENEWAL_MS }: NodeHolderOptions) {
  let leased = false;
  /** Asks the store once, and passes the answer to the ids. Never rejects. */
  const refresh = async (): Promise<void> => {
    const node = await leases.claim();
    if (node !== undefined) ids.setNode(node);
    else if (leased) ids.setNode(randomNode(random));
    leased = node !== undefined;
  };
  const timer = setInterval(refresh, intervalMs);
  timer.unref();
  return { refresh, stop: () => clearInterval(timer) };
}
