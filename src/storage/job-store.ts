import { CapstanError, type Failure } from '../capture/errors.ts';

/*
 * Work that somebody asked for and does not wait for. It lies in the database, so that it outlives the process, and
 * belongs to one process at a time: by a lease, which a process that died stops renewing.
 */

export type JobKind = 'screenshot' | 'batch';
export type JobState = 'queued' | 'running' | 'completed' | 'cancelled' | 'failed';

/** What a process that died held is free after so long, in milliseconds. */
export const JOB_LEASE_MS = 10_000;
/** Finished jobs are kept for so long, in milliseconds. */
export const JOB_LIFE_MS = 24 * 3_600_000;
/** Jobs that are kept at once: the finished ones make room, oldest first; of unfinished ones there are no more. */
export const MAX_JOBS = 1000;

export interface NewJob {
  readonly id: string;
  readonly kind: JobKind;
  /** Requests in it. */
  readonly total: number;
  /** What is to be done, as its runner wrote it down. */
  readonly work: Uint8Array;
}

/** Times are ISO 8601, UTC, milliseconds. */
export interface JobRecord {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly total: number;
  /** Requests that have an outcome, and those of them that are failures. */
  readonly done: number;
  readonly failed: number;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Why the job itself failed. */
  readonly failure: Failure | null;
}

/** A job that is its owner's now. */
export interface TakenJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly work: Uint8Array;
  /** Indexes of the requests that have an outcome already. */
  readonly done: readonly number[];
}

/** How one request of a job ended. */
export interface JobItem {
  readonly index: number;
  readonly failed: boolean;
  /** The outcome, as its runner wrote it down. */
  readonly body: string;
}

/** How a job ends that is not cancelled. */
export type JobEnd = { readonly state: 'completed' } | { readonly state: 'failed'; readonly failure: Failure };

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface JobStore {
  /** Keeps a job, durably, and makes room for it. Rejects with `queue_full` when `most` jobs are unfinished. */
  add(job: NewJob, most?: number): Promise<void>;
  get(id: string): Promise<JobRecord | undefined>;
  /** At most `limit` outcomes with an index above `after`, smallest first. */
  results(id: string, limit: number, after?: number): Promise<readonly JobItem[]>;
  /** Whatever is unfinished and nobody's becomes the owner's, the oldest first. */
  take(owner: string, leaseMs?: number): Promise<TakenJob | undefined>;
  /** False: the job is the owner's no more. It was cancelled, or went to somebody else. */
  renew(id: string, owner: string): Promise<boolean>;
  /** Keeps outcomes. One whose index is there already changes nothing, and so does whoever is not the owner. */
  put(id: string, owner: string, items: readonly JobItem[]): Promise<void>;
  /** Ends a job. Its work, which may hold credentials, is erased, as it is when the job is cancelled. */
  finish(id: string, owner: string, end: JobEnd): Promise<void>;
  /** Gives an unfinished job back. */
  release(id: string, owner: string): Promise<void>;
  /** Cancels a job that is not finished, whoever has it. Gives it as it then is; undefined when there is none. */
  cancel(id: string): Promise<JobRecord | undefined>;
  /** Removes what finished more than `lifeMs` ago. */
  prune(lifeMs?: number): Promise<void>;
}

export function tooManyJobs(most: number): CapstanError {
  return new CapstanError('queue_full', `${most} jobs are not finished, which is the most.`);
}
