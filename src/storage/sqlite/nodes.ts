import type { DatabaseSync } from 'node:sqlite';
import { LEASE_MARGIN_MS, LEASE_MS, type NodeLeases } from '../ports/node-leases.ts';
import { LEASED_NODES } from '../records/ids.ts';
import { LeasedNode } from '../records/leased-node.ts';
import type { Remote } from './remote.ts';
import { inTransaction } from './transaction.ts';

/** Time until a returned node is leased again, in milliseconds, because the clock may step back a little. */
const RELEASED_MS = 1000;

/** The port to the leases, through the worker thread. */
export function sqliteNodes(table: Remote<NodeTable>): NodeLeases {
  const leased = new LeasedNode();
  return { claim: () => leased.renew(() => table.claim()) };
}

export interface NodeTable {
  /** Claims a node for the owner, or renews its lease; undefined when other processes hold all nodes. */
  claim(): number | undefined;
  release(): void;
}

/** Runs in the worker. `clock`: milliseconds since the Unix epoch. */
export function nodeTable(db: DatabaseSync, owner: string, clock: () => number = Date.now): NodeTable {
  const all = db.prepare('SELECT node, owner, free_at FROM nodes WHERE node < ? ORDER BY free_at, node');
  const take = db.prepare(
    'INSERT INTO nodes (node, owner, free_at) VALUES (?, ?, ?) ON CONFLICT (node) DO UPDATE SET owner = excluded.owner, free_at = excluded.free_at',
  );
  const free = db.prepare('UPDATE nodes SET free_at = ? WHERE owner = ? AND free_at > ?');

  return {
    claim: () =>
      inTransaction(db, () => {
        const nowMs = clock();
        const nodes = all.all(LEASED_NODES).map((row) => ({
          node: Number(row.node),
          owner: row.owner,
          free: Number(row.free_at) <= nowMs,
        }));
        const used = new Set(nodes.map(({ node }) => node));
        // Prefers the owner's node, then one that was never leased, then the one that has been free longest.
        const node =
          nodes.find((one) => one.owner === owner && !one.free)?.node ??
          Array.from({ length: LEASED_NODES }, (_, at) => at).find((at) => !used.has(at)) ??
          nodes.find((one) => one.free)?.node;
        if (node === undefined) return undefined;
        take.run(node, owner, nowMs + LEASE_MS + LEASE_MARGIN_MS);
        return node;
      }),
    release: () => {
      const nowMs = clock();
      free.run(nowMs + RELEASED_MS, owner, nowMs + RELEASED_MS);
    },
  };
}
