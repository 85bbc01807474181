import type { Failure } from '../../capture/errors.ts';
import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import {
  type Condition,
  change,
  type Document,
  type DocumentStore,
  find,
  pageOf,
  type StoredDocument,
  whereKey,
} from '../ports/document-store.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobKind,
  type JobRecord,
  type JobState,
  type JobStore,
  keyOfJob,
  type TakenJob,
} from '../ports/job-store.ts';
import { changeOwn, FREE, release, renew } from './lease.ts';
import { oldestBeyond } from './make-room.ts';

/*
 * A job is free while it waits for a process, or after the process that ran it has died. `data`: its requests. Outcomes
 * are documents of their own.
 */

interface Job {
  readonly id: string;
  readonly createdAt: number;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly total: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly failure: Failure | null;
  /** Bytes of its outcomes, which count with it once it has ended. */
  readonly outcomeBytes?: number;
}

/** Maximum number of old jobs that are removed at once. */
const REMOVED_TOGETHER = 1000;
const UNFINISHED = ['phase', '=', 'unfinished'] as const;
const FINISHED = ['phase', '=', 'finished'] as const;
/** Replaces the requests of an ended job, which may contain credentials. */
const NOTHING = new Uint8Array();

export function jobsIn(documents: DocumentStore): JobStore {
  async function get(id: string): Promise<JobRecord | undefined> {
    const found = await find(documents, 'jobs', id);
    if (found === undefined) return undefined;
    const [done, failed] = await Promise.all([
      documents.usage('job_results', [ofJob(id)]),
      documents.usage('job_results', [ofJob(id), ['outcome', '=', 'failed']]),
    ]);
    const { kind, state, total, createdAt, startedAt, finishedAt, failure } = jobIn(found);
    const times = { createdAt: iso(createdAt), startedAt: isoOf(startedAt), finishedAt: isoOf(finishedAt) };
    return { id, kind, state, total, done: done.count, failed: failed.count, ...times, failure };
  }

  async function remove(removed: readonly StoredDocument<'jobs'>[]): Promise<void> {
    if (removed.length === 0) return;
    const ids = removed.map(({ id }) => id);
    await documents.remove('job_results', [['job', 'in', ids]]);
    await documents.remove('jobs', [['id', 'in', ids]]);
  }

  /** Removes the oldest finished jobs of a key that has more than `max.count` jobs, or finished ones of more bytes. */
  async function makeRoom(key: string, max: Amount): Promise<void> {
    const finishedOfKey = [FINISHED, ...whereKey(key)];
    const [{ count }, finished] = await Promise.all([
      documents.usage('jobs', whereKey(key)),
      documents.usage('jobs', finishedOfKey),
    ]);
    if (count <= max.count && finished.bytes <= max.bytes) return;
    const oldest = { by: 'finishedAt', limit: finished.count, isBrief: true } as const;
    const jobs = await documents.list('jobs', finishedOfKey, oldest);
    await remove(oldestBeyond(jobs, { count, bytes: finished.bytes }, max));
  }

  async function outcomeBytes(id: string): Promise<number> {
    return (await documents.usage('job_results', [ofJob(id)])).bytes;
  }

  /** Returns the oldest free job of the key with the fewest running jobs. Reads few other jobs: there may be many. */
  async function nextInTurn(now: number, isForIdleKeys: boolean): Promise<StoredDocument<'jobs'> | undefined> {
    const oldestFirst = { by: 'createdAt', isBrief: true } as const;
    const oldestFree = async (ofKeys: Condition<'jobs'>) => {
      const free = [UNFINISHED, ['freeAt', '<=', now], ofKeys] as const;
      return (await documents.list('jobs', free, { ...oldestFirst, limit: 1 }))[0];
    };
    const leased = await documents.list('jobs', [UNFINISHED, ['freeAt', '>', now]], oldestFirst);
    const running = Map.groupBy(leased, ({ apiKey }) => apiKey);
    const next = await oldestFree(['apiKey', 'not in', [...running.keys()]]);
    if (next !== undefined || isForIdleKeys) return next;
    const keysByRunning = Map.groupBy(running.keys(), (key) => running.get(key)?.length ?? 0);
    for (const [, keys] of [...keysByRunning].toSorted(([a], [b]) => a - b)) {
      const ofBusy = await oldestFree(['apiKey', 'in', keys]);
      if (ofBusy !== undefined) return ofBusy;
    }
    return undefined;
  }

  async function take(owner: string, leaseMs: number, isForIdleKeys: boolean): Promise<TakenJob | undefined> {
    for (;;) {
      const now = await documents.now();
      const next = await nextInTurn(now, isForIdleKeys);
      if (next === undefined) return undefined;
      const found = await find(documents, 'jobs', next.id);
      // Another process may have taken it meanwhile.
      if (found?.revision !== next.revision) continue;
      const job = jobIn(found);
      const running = { ...job, state: 'running', startedAt: job.startedAt ?? now } as const;
      const leased = { ...documentOf(running), owner, freeAt: now + leaseMs };
      if (!(await documents.replace('jobs', leased, next.revision))) continue;
      const [work, done] = await Promise.all([
        documents.data('jobs', job.id),
        documents.list('job_results', [ofJob(job.id)], { by: 'position', isBrief: true }),
      ]);
      // A job that was cancelled meanwhile has no work any more.
      if (work === undefined || work.byteLength === 0) continue;
      return { id: job.id, kind: job.kind, work, done: done.map(({ position }) => position) };
    }
  }

  return {
    add: async ({ id, kind, total, work, isShared }, max = STORED_LIMITS.unfinishedJobs) => {
      const createdAt = await documents.now();
      const notYet = { startedAt: null, finishedAt: null, failure: null };
      const job: Job = { id, createdAt, kind, state: 'queued', total, ...notYet };
      const room = {
        max,
        where: [UNFINISHED],
        isShared,
        isExact: false,
        code: 'queue_full',
        text: 'unfinished jobs',
      } as const;
      await documents.addWithin('jobs', { ...documentOf(job), data: work }, room);
      // The job is stored, so a failure here must not be answered. The next job makes the room then.
      await makeRoom(keyOfJob(id), { ...STORED_LIMITS.finishedJobs, count: max.count }).catch(() => undefined);
    },
    get,
    newest: async (limit, key) => {
      const newestFirst = { by: 'createdAt', isDescending: true, limit, isBrief: true } as const;
      const newest = await documents.list('jobs', whereKey(key), newestFirst);
      return newest.map(({ id }) => id);
    },
    results: async (id, limit, after = -1) => {
      const where = [ofJob(id), ['position', '>', after]] as const;
      const { items, isCut } = await pageOf(documents, 'job_results', where, { by: 'position', limit });
      const itemIn = ({ position, outcome, body }: StoredDocument<'job_results'>) => ({
        index: position,
        failed: outcome === 'failed',
        body,
      });
      return { items: items.map(itemIn), isCut };
    },
    take: (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) => take(owner, leaseMs, isForIdleKeys),
    renew: (id, owner) => renew(documents, 'jobs', id, owner, JOB_LEASE_MS),
    put: async (id, owner, items) => {
      if ((await find(documents, 'jobs', id))?.owner !== owner) return;
      await documents.add(
        'job_results',
        items.map(({ index, failed, body }) => {
          const outcome = failed ? 'failed' : 'stored';
          return { id: `${id}/${index}`, job: id, position: index, outcome, body };
        }),
      );
    },
    finish: async (id, owner, end, max = STORED_LIMITS.finishedJobs) => {
      const about = { finishedAt: await documents.now(), outcomeBytes: await outcomeBytes(id) };
      const failure = end.state === 'failed' ? end.failure : null;
      await changeOwn(documents, 'jobs', id, owner, (found) =>
        ended({ ...jobIn(found), ...about, state: end.state, failure }),
      );
      await makeRoom(keyOfJob(id), max).catch(() => undefined);
    },
    release: (id, owner) => release(documents, 'jobs', id, owner),
    cancel: async (id) => {
      const about = { finishedAt: await documents.now(), outcomeBytes: await outcomeBytes(id) };
      await change(documents, 'jobs', id, (found) =>
        found?.phase === 'unfinished' ? ended({ ...jobIn(found), ...about, state: 'cancelled' }) : undefined,
      );
      return get(id);
    },
    prune: async (lifeMs = JOB_LIFE_MS) => {
      const now = await documents.now();
      const oldest = { by: 'finishedAt', limit: REMOVED_TOGETHER, isBrief: true } as const;
      await remove(await documents.list('jobs', [['finishedAt', '<=', now - lifeMs]], oldest));
    },
  };
}

function ofJob(id: string): readonly ['job', '=', string] {
  return ['job', '=', id];
}

function jobIn({ id, createdAt, finishedAt, body }: StoredDocument<'jobs'>): Job {
  const job: Omit<Job, 'id' | 'createdAt' | 'finishedAt'> = JSON.parse(body);
  return { ...job, id, createdAt, finishedAt };
}

/** Returns the document of a job that no process runs. */
function documentOf({ id, createdAt, finishedAt, ...job }: Job): Document<'jobs'> {
  const phase = finishedAt === null ? 'unfinished' : 'finished';
  const about = { apiKey: keyOfJob(id), phase, createdAt, finishedAt };
  return { id, ...FREE, ...about, body: JSON.stringify(job), besides: job.outcomeBytes };
}

function ended(job: Job & { readonly finishedAt: number }): Document<'jobs'> {
  return { ...documentOf(job), data: NOTHING };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
