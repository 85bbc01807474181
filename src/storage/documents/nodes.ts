import { randomUUID } from 'node:crypto';
import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import { type IdSource, LEASED_NODES, randomNode } from '../records/ids.ts';

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

/** Owner of the documents of node leases. */
const NODES = 'nodes';

/**
 * The node leased to this process, known even while the database is away. A node is due when it is free; its kind is
 * its owner.
 */
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
    if (this.#held !== undefined) await this.#free().catch(() => undefined);
    this.#held = undefined;
  }

  /** Takes the previous node of this process again, otherwise the one that was free longest; undefined for none. */
  async #take(): Promise<number | undefined> {
    for (;;) {
      const now = await this.#documents.now();
      const nodes = await this.#nodes();
      const [longestFree] = nodes.filter(({ due }) => (due ?? 0) <= now);
      const node = nodes.find(({ kind }) => kind === this.#owner) ?? longestFree;
      if (node === undefined) return undefined;
      const taken = { ...node, kind: this.#owner, due: now + LEASE_MS + LEASE_MARGIN_MS };
      // Another process may have taken it meanwhile.
      if (await this.#documents.replace('leases', taken, node.revision)) return node.at;
    }
  }

  async #free(): Promise<void> {
    const now = await this.#documents.now();
    const own = (await this.#nodes()).find(({ kind }) => kind === this.#owner);
    if (own !== undefined) await this.#documents.replace('leases', { ...own, due: now + RELEASED_MS }, own.revision);
  }

  /** Returns all nodes, sorted by the time at which they are free. */
  async #nodes(): Promise<readonly StoredDocument[]> {
    const nodes = await this.#documents.list('leases', [['of', '=', NODES]], { by: 'due' });
    if (nodes.length === LEASED_NODES) return nodes;
    const free = { of: NODES, kind: '', due: 0, body: '' };
    const missing = Array.from({ length: LEASED_NODES }, (_, at) => ({ ...free, id: idOf(at), at }));
    await this.#documents.add('leases', missing);
    return this.#nodes();
  }
}

/** Sorts as the number does. */
function idOf(node: number): string {
  return `node-${String(node).padStart(2, '0')}`;
}

export interface NodeHolderOptions {
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
