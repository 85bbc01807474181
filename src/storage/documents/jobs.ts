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
} from '../ports/document-store.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobKind,
  type JobRecord,
  type JobState,
  type JobStore,
  keyOfJob,
  LIST_LIFE_MS,
  type TakenJob,
} from '../ports/job-store.ts';

/*
 * Document of a job. `of`: its API key. `kind`: `unfinished` or `finished`. `data`: the requests. `due`: when its
 * lease ends and any process may take it; for a finished job, when it ended. Outcomes and the parts of its list are
 * documents of their own. The first part is `due` when its job should be there.
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
  readonly owner: string | null;
  /** Bytes of its list, which count with it until it has ended. */
  readonly listBytes?: number | undefined;
  /** Bytes of its outcomes, which count with it once it has ended. */
  readonly outcomeBytes?: number;
}

/** Maximum number of old jobs that are removed at once. */
const REMOVED_TOGETHER = 1000;
const UNFINISHED: Condition = ['kind', '=', 'unfinished'];
const FINISHED: Condition = ['kind', '=', 'finished'];
/** Kind of an outcome that is no failure; that of a failure is its code. */
const STORED = 'stored';
/** Replaces the requests of an ended job, which may contain credentials. */
const NOTHING = new Uint8Array();

export function jobsIn(documents: DocumentStore): JobStore {
  async function get(id: string): Promise<JobRecord | undefined> {
    const found = await find(documents, 'jobs', id);
    if (found === undefined) return undefined;
    const counts = await documents.countKinds('job_results', [['of', '=', id]]);
    const failedBy = Object.fromEntries([...counts].filter(([outcome]) => outcome !== STORED));
    const failed = Object.values(failedBy).reduce((sum, count) => sum + count, 0);
    const done = failed + (counts.get(STORED) ?? 0);
    const { kind, state, total, createdAt, startedAt, finishedAt, failure } = jobIn(found);
    const times = { createdAt: iso(createdAt), startedAt: isoOf(startedAt), finishedAt: isoOf(finishedAt) };
    return { id, kind, state, total, done, failed, failedBy, ...times, failure };
  }

  async function remove(removed: readonly StoredDocument[]): Promise<void> {
    if (removed.length === 0) return;
    const ids = removed.map(({ id }) => id);
    for (const table of ['job_results', 'job_lists'] as const) await documents.remove(table, [['of', 'in', ids]]);
    await documents.remove('jobs', [['id', 'in', ids]]);
  }

  /**
   * Removes the oldest finished jobs of a key that has more than `max.count` jobs, or finished ones of more bytes, of which
   * the newest stays: its client has not read it yet.
   */
  async function makeRoom(key: string, max: Amount): Promise<void> {
    const ofKey: Condition = ['of', '=', key];
    const [all, finished] = await Promise.all([
      documents.usage('jobs', [ofKey], key),
      documents.usage('jobs', [FINISHED, ofKey], key),
    ]);
    let [count, bytes] = [all.own.count, finished.own.bytes];
    if (count <= max.count && bytes <= max.bytes) return;
    const removed: StoredDocument[] = [];
    const oldest = { by: 'due', limit: finished.own.count, isBrief: true } as const;
    for (const job of await documents.list('jobs', [FINISHED, ofKey], oldest)) {
      const isSmall = bytes <= max.bytes || removed.length === finished.own.count - 1;
      if (count <= max.count && isSmall) break;
      removed.push(job);
      count -= 1;
      bytes -= job.bytes;
    }
    await remove(removed);
  }

  /** Erases the list of a job, unless it is unfinished. */
  async function dropList(id: string): Promise<void> {
    if ((await find(documents, 'jobs', id))?.kind !== 'unfinished')
      await documents.remove('job_lists', [['of', '=', id]]);
  }

  async function outcomeBytes(id: string): Promise<number> {
    return (await documents.usage('job_results', [['of', '=', id]], id)).all.bytes;
  }

  /** Changes a running job of this owner; undefined when there is none. */
  function changeOwn(id: string, owner: string, next: (job: Job) => Document): Promise<Document | undefined> {
    return change(documents, 'jobs', id, (found) => {
      const job = found && jobIn(found);
      return job?.owner === owner && job.state === 'running' ? next(job) : undefined;
    });
  }

  /** Returns the oldest free job of the key with the fewest running jobs. Reads few other jobs: there may be many. */
  async function nextInTurn(now: number, isForIdleKeys: boolean): Promise<StoredDocument | undefined> {
    const oldestFree = async (...ofKeys: Condition[]) => {
      const free: readonly Condition[] = [UNFINISHED, ['due', '<=', now], ...ofKeys];
      return (await documents.list('jobs', free, { by: 'at', limit: 1, isBrief: true }))[0];
    };
    const leased = await documents.list('jobs', [UNFINISHED, ['due', '>', now]], { by: 'at', isBrief: true });
    const running = Map.groupBy(leased, ({ of }) => of);
    const next = await oldestFree(['of', 'not in', [...running.keys()]]);
    if (next !== undefined || isForIdleKeys) return next;
    const keysByRunning = Map.groupBy(running.keys(), (key) => running.get(key)?.length ?? 0);
    for (const [, keys] of [...keysByRunning].toSorted(([a], [b]) => a - b)) {
      const ofBusy = await oldestFree(['of', 'in', keys]);
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
      const running = { ...job, state: 'running', owner, startedAt: job.startedAt ?? now } as const;
      if (!(await documents.replace('jobs', documentOf(running, now + leaseMs), next.revision))) continue;
      const work = await documents.data('jobs', job.id);
      // A job that was cancelled meanwhile has no work any more.
      if (work === undefined || work.byteLength === 0) continue;
      return { id: job.id, kind: job.kind, total: job.total, work, isResumed: job.startedAt !== null };
    }
  }

  return {
    add: async ({ id, kind, total, work, isShared, listBytes }, max = STORED_LIMITS.unfinishedJobs) => {
      const createdAt = await documents.now();
      const notYet = { startedAt: null, finishedAt: null, failure: null, owner: null };
      const job: Job = { id, createdAt, kind, state: 'queued', total, listBytes, ...notYet };
      const room = {
        max,
        where: [UNFINISHED],
        isShared,
        isExact: false,
        code: 'queue_full',
        text: 'unfinished jobs',
      } as const;
      await documents.addWithin('jobs', { ...documentOf(job, 0), data: work }, room);
      // The job is stored, so a failure here must not be answered. The next job makes the room then.
      await makeRoom(keyOfJob(id), { ...STORED_LIMITS.finishedJobs, count: max.count }).catch(() => undefined);
    },
    putList: async (id, part, bytes) => {
      const due = part === 0 ? (await documents.now()) + LIST_LIFE_MS : null;
      await documents.add('job_lists', [
        { id: `${id}/${part}`, of: id, kind: '', at: part, due, body: '', data: bytes },
      ]);
    },
    list: (id, part) => documents.data('job_lists', `${id}/${part}`),
    get,
    newest: async (limit, key) => {
      const where: readonly Condition[] = key === undefined ? [] : [['of', '=', key]];
      const newest = await documents.list('jobs', where, { by: 'at', isDescending: true, limit, isBrief: true });
      return newest.map(({ id }) => id);
    },
    results: async (id, limit, after = -1) => {
      const where: readonly Condition[] = [
        ['of', '=', id],
        ['at', '>', after],
      ];
      const { items, isCut } = await pageOf(documents, 'job_results', where, { by: 'at', limit });
      return { items: items.map(({ at, kind, body }) => ({ index: at, failed: kind !== STORED, body })), isCut };
    },
    take: (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) => take(owner, leaseMs, isForIdleKeys),
    done: async (id, from, to) => {
      const where: readonly Condition[] = [
        ['of', '=', id],
        ['at', '>', from - 1],
        ['at', '<', to],
      ];
      return (await documents.list('job_results', where, { by: 'at', isBrief: true })).map(({ at }) => at);
    },
    progress: async (id) => {
      const where: readonly Condition[] = [['of', '=', id]];
      const [done, [last]] = await Promise.all([
        documents.count('job_results', where),
        documents.list('job_results', where, { by: 'at', isDescending: true, limit: 1, isBrief: true }),
      ]);
      return { done, highest: last?.at ?? -1 };
    },
    renew: async (id, owner) => {
      const now = await documents.now();
      return (await changeOwn(id, owner, (job) => documentOf(job, now + JOB_LEASE_MS))) !== undefined;
    },
    put: async (id, owner, items) => {
      const found = await find(documents, 'jobs', id);
      if (found === undefined || jobIn(found).owner !== owner || jobIn(found).state !== 'running') return;
      await documents.add(
        'job_results',
        items.map(({ index, failed, code = 'failed', body }) => {
          const kind = failed ? code : STORED;
          return { id: `${id}/${index}`, of: id, kind, at: index, due: null, body };
        }),
      );
    },
    finish: async (id, owner, end, max = STORED_LIMITS.finishedJobs) => {
      const about = { finishedAt: await documents.now(), outcomeBytes: await outcomeBytes(id) };
      const failure = end.state === 'failed' ? end.failure : null;
      await changeOwn(id, owner, (job) => ended({ ...job, ...about, state: end.state, failure }));
      await dropList(id);
      await makeRoom(keyOfJob(id), max).catch(() => undefined);
    },
    release: async (id, owner) => {
      await changeOwn(id, owner, (job) => documentOf({ ...job, owner: null }, 0));
    },
    cancel: async (id) => {
      const about = { finishedAt: await documents.now(), outcomeBytes: await outcomeBytes(id) };
      await change(documents, 'jobs', id, (found) =>
        found?.kind === 'unfinished' ? ended({ ...jobIn(found), ...about, state: 'cancelled' }) : undefined,
      );
      await dropList(id);
      return get(id);
    },
    prune: async (lifeMs = JOB_LIFE_MS) => {
      const now = await documents.now();
      const old: readonly Condition[] = [FINISHED, ['due', '<=', now - lifeMs]];
      await remove(await documents.list('jobs', old, { by: 'due', limit: REMOVED_TOGETHER, isBrief: true }));
      // Lists whose job has ended meanwhile, or was never added because a process ended.
      for (const { of } of await documents.list('job_lists', [['due', '<=', now]], { by: 'due', isBrief: true })) {
        await dropList(of);
      }
    },
  };
}

function jobIn({ id, at, body }: StoredDocument): Job {
  const job: Omit<Job, 'id' | 'createdAt'> = JSON.parse(body);
  return { ...job, id, createdAt: at };
}

function documentOf({ id, createdAt, ...job }: Job, due: number): Document {
  const kind = job.state === 'queued' || job.state === 'running' ? 'unfinished' : 'finished';
  const of = keyOfJob(id);
  return { id, of, kind, at: createdAt, due, body: JSON.stringify(job), besides: job.outcomeBytes ?? job.listBytes };
}

function ended(job: Job & { readonly finishedAt: number }): Document {
  return { ...documentOf(job, job.finishedAt), data: NOTHING };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
