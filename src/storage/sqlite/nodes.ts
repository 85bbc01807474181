import type { DatabaseSync } from 'node:sqlite';
import { LEASE_MARGIN_MS, LEASE_MS, type NodeLeases } from '../ports/node-leases.ts';
import { LEASED_NODES } from '../records/ids.ts';
import { LeasedNode } from '../records/leased-node.ts';
import type { AskFor, Handlers } from './calls.ts';
import { inTransaction } from './transaction.ts';

/** Time until a returned node is leased again, in milliseconds, because the clock may step back a little. */
const RELEASED_MS = 1000;

export interface NodeCalls {
  /** Claims a node; null when other processes hold all nodes. */
  claimNode: { args: { readonly owner: string }; answer: number | null };
}

/** The port to the leases, through the worker thread. */
export function sqliteNodes(ask: AskFor<NodeCalls>, owner: string): NodeLeases {
  const leased = new LeasedNode();
  return { claim: () => leased.renew(async () => (await ask('claimNode', { owner })) ?? undefined) };
}

export interface NodeTable extends Handlers<NodeCalls> {
  releaseNode(args: { readonly owner: string }, nowMs: number): void;
}

/** Runs in the worker. */
export function nodeTable(db: DatabaseSync): NodeTable {
  const all = db.prepare('SELECT node, owner, free_at FROM nodes WHERE node < ? ORDER BY free_at, node');
  const take = db.prepare(
    'INSERT INTO nodes (node, owner, free_at) VALUES (?, ?, ?) ON CONFLICT (node) DO UPDATE SET owner = excluded.owner, free_at = excluded.free_at',
  );
  const free = db.prepare('UPDATE nodes SET free_at = ? WHERE owner = ? AND free_at > ?');

  return {
    claimNode: ({ owner }, nowMs) =>
      inTransaction(db, () => {
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
        if (node === undefined) return null;
        take.run(node, owner, nowMs + LEASE_MS + LEASE_MARGIN_MS);
        return node;
      }),
    releaseNode: ({ owner }, nowMs) => {
      free.run(nowMs + RELEASED_MS, owner, nowMs + RELEASED_MS);
    },
  };
}
