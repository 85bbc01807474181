import type { Collection } from 'mongodb';
import { LEASE_MARGIN_MS, LEASE_MS, RELEASED_MS } from '../ports/node-leases.ts';
import type { StoreState } from '../ports/result-store.ts';
import { LEASED_NODES } from '../records/ids.ts';
import type { NodeTable } from '../records/leased-node.ts';
import type { Ask } from './connection.ts';
import { inMs, type NodeDocument } from './documents.ts';

/* Leases of nodes by the server's clock, because the clocks of the machines may differ. */

/** Creates the nodes, which are free. */
export async function prepareNodes(nodes: Collection<NodeDocument>): Promise<void> {
  const free = { $setOnInsert: { owner: '', free_at: new Date(0) } };
  const each = Array.from({ length: LEASED_NODES }, (_, _id) => ({
    updateOne: { filter: { _id }, update: free, upsert: true },
  }));
  await nodes.bulkWrite(each, { ordered: false });
}

/** The leases of one process, `owner`. */
export function mongoNodes(
  nodes: Collection<NodeDocument>,
  ask: Ask,
  connection: { readonly state: StoreState },
  owner: string,
): NodeTable {
  return {
    claim: () => ask(() => claimNode(nodes, owner)),
    release: async () => {
      if (connection.state === 'up') await releaseNode(nodes, owner);
    },
  };
}

/**
 * Claims the owner's node again, or the one that has been free longest; undefined when other processes hold all of them.
 */
export async function claimNode(nodes: Collection<NodeDocument>, owner: string): Promise<number | undefined> {
  const own = await nodes.findOneAndUpdate({ owner }, [leaseTo(owner)]);
  if (own !== null) return own._id;
  const isFree = { $expr: { $lte: ['$free_at', '$$NOW'] } };
  const claimed = await nodes.findOneAndUpdate(isFree, [leaseTo(owner)], { sort: { free_at: 1, _id: 1 } });
  return claimed?._id;
}

export async function releaseNode(nodes: Collection<NodeDocument>, owner: string): Promise<void> {
  await nodes.updateMany({ owner }, [{ $set: { free_at: { $min: ['$free_at', inMs(RELEASED_MS)] } } }]);
}

function leaseTo(owner: string) {
  return { $set: { owner: { $literal: owner }, free_at: inMs(LEASE_MS + LEASE_MARGIN_MS) } };
}
