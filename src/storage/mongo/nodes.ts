import type { Collection } from 'mongodb';
import { LEASE_MARGIN_MS, LEASE_MS, LEASE_RENEWAL_MS, type NodeLeases } from '../ports/node-leases.ts';
import type { StoreState } from '../ports/result-store.ts';
import { LEASED_NODES } from '../records/ids.ts';
import { LeasedNode } from '../records/leased-node.ts';
import type { Ask } from './connection.ts';
import type { NodeDocument } from './documents.ts';
import { isDuplicateKey } from './duplicate-key.ts';

/* Leases of nodes by the server's clock, because the clocks of the machines may differ. */

/** Time until a returned node is leased again, in milliseconds, because the clock may step back a little. */
const RELEASED_MS = 1000;
export interface MongoNodes extends NodeLeases {
  /** Returns the node. Never rejects: a lease that is not returned runs out. */
  release(): Promise<void>;
}

/** The port to the leases of one process, `owner`. */
export function mongoNodes(
  nodes: Collection<NodeDocument>,
  ask: Ask,
  connection: { readonly state: StoreState },
  owner: string,
): MongoNodes {
  const leased = new LeasedNode();
  let renewal: NodeJS.Timeout | undefined;
  const claim = () =>
    leased.renew(async () => {
      const node = await ask(() => claimNode(nodes, owner));
      renewal ??= setInterval(() => void claim(), LEASE_RENEWAL_MS).unref();
      return node;
    });
  return {
    claim,
    release: async () => {
      clearInterval(renewal);
      if (leased.number !== undefined && connection.state === 'up')
        await releaseNode(nodes, owner).catch(() => undefined);
    },
  };
}

/** Claims a node, or renews the owner's; undefined when other processes hold all of them. */
export async function claimNode(nodes: Collection<NodeDocument>, owner: string): Promise<number | undefined> {
  const held = await nodes.findOneAndUpdate({ owner, $expr: { $gt: ['$free_at', '$$NOW'] } }, [leaseTo(owner)]);
  if (held !== null) return held._id;
  return (await claimUnused(nodes, owner)) ?? claimFree(nodes, owner);
}

export async function releaseNode(nodes: Collection<NodeDocument>, owner: string): Promise<void> {
  await nodes.updateMany({ owner }, [{ $set: { free_at: { $min: ['$free_at', inMs(RELEASED_MS)] } } }]);
}

async function claimUnused(nodes: Collection<NodeDocument>, owner: string): Promise<number | undefined> {
  const used = new Set((await nodes.find().project<{ _id: number }>({ _id: 1 }).toArray()).map(({ _id }) => _id));
  for (let node = 0; node < LEASED_NODES; node += 1) {
    if (used.has(node)) continue;
    try {
      await nodes.updateOne({ _id: node, owner }, [leaseTo(owner)], { upsert: true });
      return node;
    } catch (error) {
      // Another process was faster.
      if (!isDuplicateKey(error)) throw error;
    }
  }
  return undefined;
}

/** Claims the node that has been free longest. */
async function claimFree(nodes: Collection<NodeDocument>, owner: string): Promise<number | undefined> {
  const claimed = await nodes.findOneAndUpdate(
    { _id: { $lt: LEASED_NODES }, $expr: { $lte: ['$free_at', '$$NOW'] } },
    [leaseTo(owner)],
    { sort: { free_at: 1 } },
  );
  return claimed?._id;
}

function leaseTo(owner: string) {
  return { $set: { owner: { $literal: owner }, free_at: inMs(LEASE_MS + LEASE_MARGIN_MS) } };
}

function inMs(ms: number) {
  return { $add: ['$$NOW', ms] };
}
