import type { Evidence } from '../capture/evidence.ts';
import type { DetailedResult, Result, SimilarResult } from '../capture/result.ts';

/** Which records: all, those of exactly one URL, or those of a host with the meaning of by-host. */
export type ResultFilter =
  | { readonly by: 'all' }
  | { readonly by: 'url'; readonly url: string }
  | { readonly by: 'host'; readonly host: string };

/** The place in a list behind which the next page begins. Lists go newest first by `(probed_at, id)`. */
export interface Keyset {
  /** ISO 8601, UTC, milliseconds. */
  readonly probedAt: string;
  readonly id: number;
}

/** Bits that may differ between screenshots that are said to look alike, at most. */
export const MAX_DISTANCE = 15;

/** What another capture is asked for: the hash of its screenshot, and how many bits of it may differ. */
export interface Likeness {
  /** 16 hex digits. */
  readonly hash: string;
  /** 0..`MAX_DISTANCE`. */
  readonly distance: number;
  /** The capture that is not looked for: the one that others are to be like. */
  readonly except: number;
}

/**
 * `off`: started without a database. `down`: it cannot be reached now, and is tried again. `damaged`: its file is corrupt
 * or gone, and an operator has to act; records wait in the outbox meanwhile.
 */
export type StoreState = 'off' | 'up' | 'down' | 'damaged';

/**
 * The port to the database of results. Every method rejects with a `CapstanError` of code
 * `database_not_enabled` or `database_unavailable` when it cannot answer; both recover by themselves.
 */
export interface ResultStore {
  readonly kind: 'none' | 'sqlite' | 'mongo';
  readonly state: StoreState;

  /** Keeps a record and its evidence, durably and together. The same id again is no error and changes nothing. */
  insert(result: Result, evidence?: Evidence | null): Promise<void>;

  get(id: number): Promise<DetailedResult | undefined>;

  /** At most `limit` records behind `after`, newest first by `(probed_at, id)`. */
  page(filter: ResultFilter, limit: number, after?: Keyset): Promise<readonly Result[]>;

  /** At most `limit` records whose `perception_hash` differs in so few bits: nearest first, then newest by id. */
  similar(likeness: Likeness, limit: number): Promise<readonly SimilarResult[]>;

  /** Forgets records and their evidence, durably; ids that are not there are no error. Gives how many were there. */
  delete(ids: readonly number[]): Promise<number>;

  /** Ids of at most `limit` records, smallest and so oldest first, that are above `after` and below `before`. */
  oldest(limit: number, before: number, after?: number): Promise<readonly number[]>;
}
