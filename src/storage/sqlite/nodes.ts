import type { DatabaseSync } from 'node:sqlite';
import { LEASE_MARGIN_MS, LEASE_MS, RELEASED_MS } from '../ports/node-leases.ts';
import type { NodeTable } from '../records/leased-node.ts';
import type { Synchronous } from './remote.ts';

/** Runs in the worker. `clock`: milliseconds since the Unix epoch. */
export function nodeTable(db: DatabaseSync, owner: string, clock: () => number = Date.now): Synchronous<NodeTable> {
  // The owner's node, otherwise the one that has been free longest.
  const claim = db.prepare(
    `UPDATE nodes SET owner = ?1, free_at = ?2 WHERE node = (
      SELECT node FROM nodes WHERE owner = ?1 OR free_at <= ?3 ORDER BY owner = ?1 DESC, free_at, node LIMIT 1
    ) RETURNING node`,
  );
  const free = db.prepare('UPDATE nodes SET free_at = min(free_at, ?) WHERE owner = ?');

  return {
    claim: () => {
      const nowMs = clock();
      const node = claim.get(owner, nowMs + LEASE_MS + LEASE_MARGIN_MS, nowMs)?.node;
      return node === undefined ? undefined : Number(node);
    },
    release: () => {
      free.run(clock() + RELEASED_MS, owner);
    },
  };
}
