import { createHash } from 'node:crypto';
import type { Failure } from '../../capture/errors.ts';
import type { Amount } from '../../capture/stored-limits.ts';
import type { JobKind } from '../../capture/work/job.ts';
import type { Page } from './document-store.ts';

export type { Page };

/*
 * The port to jobs: work that its client does not wait for. A job is in the database, so it outlives the process, and
 * belongs to one process at a time by a lease that a dead process stops renewing.
 */

export type { JobKind };

type JobState = 'queued' | 'running' | 'completed' | 'cancelled' | 'failed';

/** Lease of a job, in milliseconds: after this the jobs of a dead process are free. */
export const JOB_LEASE_MS = 10_000;
/** Time for which the list of a job that was not added yet is kept, in milliseconds. */
export const LIST_LIFE_MS = 3_600_000;
/** Time to live of a finished job, in milliseconds. */
export const JOB_LIFE_MS = 24 * 3_600_000;
/** Returns what the ids of an API key's jobs begin with: a fingerprint of its name; `''` without a named key. */
export function jobKeyOf(apiKeyName: string | null): string {
  return apiKeyName === null ? '' : `${createHash('sha256').update(apiKeyName).digest('hex').slice(0, 16)}.`;
}

/** Returns the `jobKeyOf` of the key that a job belongs to. */
export function keyOfJob(id: string): string {
  return id.slice(0, id.indexOf('.') + 1);
}

export interface NewJob {
  /** Begins with the key that the job belongs to, see `jobKeyOf`. */
  readonly id: string;
  readonly kind: JobKind;
  /** Number of its requests. */
  readonly total: number;
  /** The work, as serialised by its runner. */
  readonly work: Uint8Array;
  /** Bytes of its list, which is stored before it. @default 0: it has none */
  readonly listBytes?: number;
  /** Whether the job counts towards the share of its key; false when there are no other keys. */
  readonly keysShare: boolean;
}

/** Times are ISO 8601, UTC, with milliseconds. */
export interface JobRecord extends Pick<NewJob, 'id' | 'kind' | 'total'> {
  readonly state: JobState;
  /** Number of requests with an outcome, and how many of these failed. */
  readonly done: number;
  readonly failed: number;
  /** Number of failures by code. */
  readonly failedBy: Readonly<Record<string, number>>;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** The reason why the job itself failed. */
  readonly failure: Failure | null;
}

/** A job whose lease the caller holds. */
export interface TakenJob extends Pick<NewJob, 'id' | 'kind' | 'total' | 'work'> {
  /** Whether an earlier run was interrupted. */
  readonly isResumed: boolean;
}

/** The outcome of one request of a job. */
export interface JobItem {
  readonly index: number;
  readonly failed: boolean;
  /** Code of the failure, by which failures are counted. */
  readonly code?: string | undefined;
  /** The outcome, as serialised by its runner. */
  readonly body: string;
}

/** The end of a job that was not cancelled. */
export type JobEnd = { readonly state: 'completed' } | { readonly state: 'failed'; readonly failure: Failure };

interface TakeOptions {
  readonly leaseMs?: number;
  /** Takes only a job of a key of which no job is running. */
  readonly isForIdleKeys?: boolean;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface JobStore {
  /**
   * Stores a job durably. The oldest finished jobs of its key make room for it; unfinished ones are never removed.
   * Rejects with `queue_full` when there is no room within `max`, or when the unfinished ones of its key are its share.
   */
  add(job: NewJob, max?: Amount): Promise<void>;
  /** Rejects as `add` would, before the work of a job is made. */
  requireRoom(job: Pick<NewJob, 'id' | 'keysShare'>, max?: Amount): Promise<void>;
  /**
   * Stores a part of the list of a job that is then added. Parts are numbered from 0. They are erased with the work;
   * those of a job that was never added, when the next jobs are pruned after `LIST_LIFE_MS`.
   */
  putList(id: string, part: number, bytes: Uint8Array): Promise<void>;
  /** Returns a part of a list; undefined beyond the last one. */
  list(id: string, part: number): Promise<Uint8Array | undefined>;
  get(id: string): Promise<JobRecord | undefined>;
  /** Returns the ids of at most `limit` jobs, of all keys or one (see `jobKeyOf`), newest first. */
  newest(limit: number, key?: string): Promise<readonly string[]>;
  /** Returns at most `limit` outcomes with an index above `after`, smallest first; fewer when they are large. */
  results(id: string, limit: number, after?: number): Promise<Page<JobItem>>;
  /**
   * Leases an unfinished job without an owner to this owner; undefined when there is none. Keys take turns: the oldest
   * job of the key with the fewest running jobs is next. Scans are given to one owner at a time, which counts their
   * captures of each host.
   */
  take(owner: string, options?: TakeOptions): Promise<TakenJob | undefined>;
  /** Returns the indexes from `from`, and below `to`, that have an outcome, in their order. */
  done(id: string, from: number, to: number): Promise<readonly number[]>;
  /** Returns the number of outcomes and the highest index that has one; -1 without any. */
  progress(id: string): Promise<{ readonly done: number; readonly highest: number }>;
  /** Renews the lease. False: the job was cancelled, or has another owner. */
  renew(id: string, owner: string): Promise<boolean>;
  /**
   * Stores outcomes. Indexes that already have one are ignored, and so are calls by a process that is not the owner.
   */
  put(id: string, owner: string, items: readonly JobItem[]): Promise<void>;
  /**
   * Ends a job. Its work, which may contain credentials, is erased, as it is when the job is cancelled. Removes the
   * oldest finished jobs of its key beyond `max`.
   */
  finish(id: string, owner: string, end: JobEnd, max?: Amount): Promise<void>;
  /** Gives an unfinished job back, so that another owner can take it. */
  release(id: string, owner: string): Promise<void>;
  /** Cancels an unfinished job of any owner. Returns its new state; undefined when there is no such job. */
  cancel(id: string): Promise<JobRecord | undefined>;
  /** Removes jobs that finished more than `lifeMs` ago. */
  prune(lifeMs?: number): Promise<void>;
}
