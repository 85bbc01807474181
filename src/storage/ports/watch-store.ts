import type { Amount } from '../../capture/stored-limits.ts';
import type { Page } from './document-store.ts';

export type { Page };

/*
 * The port to watches: pages that are captured again and again. A due watch belongs to one process at a time by a
 * lease, and has at most one run for each time at which it was due. So a run that a dead process stored is not made
 * again: the next owner announces it and goes on. Times are milliseconds since 1970, by the clock of the caller.
 *
 * Functions that decide a change are given the stored watch, and again when another process changed it meanwhile.
 */

/** Lease of a due watch, in milliseconds: after this, the watches of a dead process are taken by another. */
export const WATCH_LEASE_MS = 30_000;
/** Maximum number of leased watches of one host, in all processes that share the database. */
export const MAX_LEASED_OF_HOST = 2;

/** A watch to add. The store does not interpret `summary`, `definition` and `progress`. */
export interface NewWatch {
  readonly id: number;
  /** Name of the API key that it belongs to; empty without one. */
  readonly apiKeyName: string;
  readonly host: string;
  /** Interval of its runs; null with another schedule. */
  readonly everyMs: number | null;
  /** Time of the next run; null when it is paused. */
  readonly dueAt: number | null;
  /** The labels by which it is listed. */
  readonly labels: readonly string[];
  /** Part of the definition that lists show. */
  readonly summary: string;
  /** Definition as the client wrote it, which lists do not read. */
  readonly definition: string;
  /** Findings of the runs. */
  readonly progress: string;
  /** Whether the watch counts towards the share of its key; false when there are no other keys. */
  readonly keysShare: boolean;
}

export type StoredWatch = Omit<NewWatch, 'keysShare' | 'labels' | 'definition'>;

/** The part of a watch that clients may change. Without a `definition`, the stored one is kept. */
export type WatchChange = Pick<NewWatch, 'host' | 'everyMs' | 'dueAt' | 'labels' | 'summary' | 'keysShare'> &
  Partial<Pick<NewWatch, 'definition'>>;

/** A due watch whose lease the caller holds. */
export interface TakenWatch extends StoredWatch {
  readonly definition: string;
  /** The time that its run is for. */
  readonly dueAt: number;
  /** The run for this time, if another process stored it and ended before it released the watch. */
  readonly run: StoredRun | undefined;
  readonly owner: string;
}

export interface StoredRun {
  readonly dueAt: number;
  readonly body: string;
}

/** The state that a run leaves for the next one. */
export interface Finished {
  readonly dueAt: number | null;
  /** When that was decided: the wait is longer than usual after failures. */
  readonly plannedAt: number;
  readonly progress: string;
  readonly keep: number;
}

export interface TakeDue {
  readonly now: number;
  /** Watches of these hosts and keys are left alone, besides those of hosts with `MAX_LEASED_OF_HOST`. */
  readonly exceptHosts: readonly string[];
  readonly exceptKeys: readonly string[];
}

export interface WatchesWanted {
  /** Name of the API key; undefined for all. */
  readonly ofKey: string | undefined;
  /** Only watches with this label; undefined for all. */
  readonly label: string | undefined;
  /** Only watches with a greater id. */
  readonly after: number;
  readonly limit: number;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface WatchStore {
  /**
   * Rejects with `too_many_watches` when there is no room within `max`, or when
   * the key has its share. Processes that share the database count one after another.
   */
  add(watch: NewWatch, max?: Amount): Promise<void>;
  /** Returns a watch of an API key, or of any. Reads nothing of the watches of other keys. */
  get(id: number, ofKey?: string): Promise<StoredWatch | undefined>;
  /** Returns the definition of a watch. */
  definition(id: number): Promise<string | undefined>;
  /** Returns watches by id. A page is shorter than its limit when they are large. */
  list(wanted: WatchesWanted): Promise<Page<StoredWatch>>;
  /**
   * Changes a watch, and returns it; undefined: there is none. Rejects with `too_many_watches` when there is no room
   * for a larger one. A run that is not stored yet is dropped: its lease lasts until it ends, so that its page counts
   * for its host, and `put` refuses it.
   */
  change(
    id: number,
    next: (watch: StoredWatch) => WatchChange | Promise<WatchChange>,
    max?: Amount,
  ): Promise<StoredWatch | undefined>;
  /** Removes a watch. Returns its runs, whose captures are left to the caller; undefined when there is none. */
  remove(id: number): Promise<readonly StoredRun[] | undefined>;
  /** Leases watches, those that have been due longest first: at most one for each owner. */
  take(owners: readonly string[], due: TakeDue): Promise<readonly TakenWatch[]>;
  /** Renews a lease. False: the watch was removed, or has another owner. */
  renew(id: number, owner: string, now: number): Promise<boolean>;
  /** Stores the run of a leased watch. False: as for `renew`, or the run is dropped, and its lease ended. */
  put(id: number, owner: string, run: StoredRun): Promise<boolean>;
  /**
   * Ends the lease, after the run was announced. Removes the runs before the newest `keep`, and those that take too
   * many bytes. Resolves with the removed runs; with undefined when the caller has no lease. `maxOfKey`: the bytes that
   * the runs of all watches of a key may have together, by default those of `STORED_LIMITS.keyRuns`.
   */
  finish(
    id: number,
    owner: string,
    next: (watch: StoredWatch) => Finished,
    maxOfKey?: number,
  ): Promise<readonly StoredRun[] | undefined>;
  /** Ends the lease without a run: the watch is due again at `at`. */
  release(id: number, owner: string, at: number): Promise<void>;
  /** Returns at most `limit` runs that were due before a time, newest first; fewer when they are large. */
  runs(id: number, limit: number, before: number): Promise<Page<StoredRun>>;
  /**
   * For a clock that was set back. Moves watches that are due more than two intervals from now to the time that `next`
   * returns, unless such a wait was decided before now. Also ends leases that last too long. Watches with a schedule in
   * place of an interval keep their times, at which they run once.
   */
  hasten(now: number, next: (id: number, everyMs: number) => number | null): Promise<void>;
}
