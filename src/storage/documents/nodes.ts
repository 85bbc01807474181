import { randomUUID } from 'node:crypto';
import type { DocumentStore, StoredDocument } from '../ports/document-store.ts';
import { LEASE_MARGIN_MS, LEASE_MS, type NodeLeases, RELEASED_MS } from '../ports/node-leases.ts';
import { LEASED_NODES } from '../records/ids.ts';

/** What the leases of nodes belong to. */
const NODES = 'nodes';

/** The node leased to this process, known even while the database is away. A node is due when it is free; its kind is its owner. */
export class LeasedNode implements NodeLeases {
  readonly #documents: DocumentStore;
  readonly #owner = randomUUID();
  #held: { readonly number: number; readonly until: number } | undefined;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

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

  /** Takes its own node again, otherwise the one that has been free longest; undefined when there is none. */
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

  /** Returns all nodes, the one that is free first at the beginning. */
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
