/*
 * Two processes with the same node could generate the same id, and the second record of an id is dropped. A node is
 * therefore leased: it is held for LEASE_MS after each renewal, and no other process can lease it until LEASE_MARGIN_MS
 * later.
 */

/** Time that a node may be used after it was claimed or renewed, in milliseconds. */
export const LEASE_MS = 120_000;
/**
 * Additional time until another process may have it, in milliseconds: covers clock differences and ids that ran ahead.
 */
export const LEASE_MARGIN_MS = 60_000;
export const LEASE_RENEWAL_MS = 15_000;
/** Time until a returned node is leased again, in milliseconds, because the clock may step back a little. */
export const RELEASED_MS = 1000;

/** The port to the leases, shared by the processes that share a database. */
export interface NodeLeases {
  /**
   * Leases a node below `LEASED_NODES` that no other process holds, or renews the lease. Undefined when no node is free,
   * or the database has been away for longer than a lease lasts. Never rejects.
   */
  claim(): Promise<number | undefined>;
}
