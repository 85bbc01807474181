import { iso } from '../../capture/basics/values.ts';
import { type Amount, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { JOB_KINDS } from '../../capture/work/job.ts';
import type { Condition, Document, DocumentStore, StoredDocument } from '../ports/document-store.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobKind,
  type JobRecord,
  type JobStore,
  keyOfJob,
  LIST_LIFE_MS,
  type TakenJob,
} from '../ports/job-store.ts';
import { change, find, pageOf, whereKey } from './find-and-change.ts';
import { changeOwn, FREE } from './lease.ts';
import { oldestBeyond } from './make-room.ts';
import { requireRoom } from './room.ts';

/*
 * A job is free while it waits for a process, or after the process that ran it has died. `data`: its requests.
 * Outcomes, and the parts of its list, are documents of their own.
 */

/** Times are milliseconds since the Unix epoch. */
interface Job extends Pick<JobRecord, 'id' | 'kind' | 'state' | 'total' | 'failure'> {
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Bytes of its list, which count with it until it has ended. */
  readonly listBytes?: number | undefined;
  /** Bytes of its outcomes, which count with it once it has ended. */
  readonly outcomeBytes?: number;
}

const OLDEST_FIRST = { by: 'createdAt', isBrief: true } as const;
/** Maximum number of old jobs that are removed at once. */
const REMOVED_TOGETHER = 1000;
const UNFINISHED = ['phase', '=', 'unfinished'] as const;
const FINISHED = ['phase', '=', 'finished'] as const;
/** Outcome of a request that did not fail; otherwise it is the code of the failure. */
const STORED = 'stored';
/** Replaces the requests of an ended job, which may contain credentials. */
const NOTHING = new Uint8Array();

export function jobsIn(documents: DocumentStore): JobStore {
  async function get(id: string): Promise<JobRecord | undefined> {
    const found = await find(documents, 'jobs', id);
    if (found === undefined) return undefined;
    const counts = await documents.countBy('job_results', 'outcome', [ofJob(id)]);
    const failedBy = Object.fromEntries([...counts].filter(([outcome]) => outcome !== STORED));
    const failed = Object.values(failedBy).reduce((sum, count) => sum + count, 0);
    const done = failed + (counts.get(STORED) ?? 0);
    const { kind, state, total, createdAt, startedAt, finishedAt, failure } = jobIn(found);
    const times = { createdAt: iso(createdAt), startedAt: isoOf(startedAt), finishedAt: isoOf(finishedAt) };
    return { id, kind, state, total, done, failed, failedBy, ...times, failure };
  }

  async function remove(removed: readonly StoredDocument<'jobs'>[]): Promise<void> {
    if (removed.length === 0) return;
    const ids = removed.map(({ id }) => id);
    for (const table of ['job_results', 'job_lists'] as const) await documents.remove(table, [['job', 'in', ids]]);
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

  /** Erases the list of a job, unless it is unfinished. */
  async function dropList(id: string): Promise<void> {
    const job = await find(documents, 'jobs', id);
    if (job?.phase !== 'unfinished') await documents.remove('job_lists', [ofJob(id)]);
  }

  const lease = (id: string, owner: string, next: Pick<Document<'jobs'>, 'owner' | 'freeAt'>) =>
    changeOwn(documents, 'jobs', id, owner, (found) => ({ ...documentOf(jobIn(found)), ...next }));

  async function outcomeBytes(id: string): Promise<number> {
    return (await documents.usage('job_results', [ofJob(id)])).bytes;
  }

  const leasedAt = (now: number) => documents.list('jobs', [UNFINISHED, ['freeAt', '>', now]], OLDEST_FIRST);

  /** Returns the oldest free job of the key with the fewest running jobs. Reads few other jobs: there may be many. */
  async function nextInTurn(
    now: number,
    { owner, isForIdleKeys }: { readonly owner: string; readonly isForIdleKeys: boolean },
  ): Promise<StoredDocument<'jobs'> | undefined> {
    const leased = await leasedAt(now);
    const kinds = hasOthersScan(leased, owner) ? [['kind', 'not in', ['scan']] as const] : [];
    const oldestFree = async (ofKeys: Condition<'jobs'>) => {
      const free = [UNFINISHED, ['freeAt', '<=', now], ofKeys, ...kinds] as const;
      return (await documents.list('jobs', free, { ...OLDEST_FIRST, limit: 1 }))[0];
    };
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
      const next = await nextInTurn(now, { owner, isForIdleKeys });
      if (next === undefined) return undefined;
      const found = await find(documents, 'jobs', next.id);
      // Another process may have taken it meanwhile.
      if (found?.revision !== next.revision) continue;
      const job = jobIn(found);
      const running = { ...job, state: 'running', startedAt: job.startedAt ?? now } as const;
      const leased = { ...documentOf(running), owner, freeAt: now + leaseMs };
      if (!(await documents.replace('jobs', leased, next.revision))) continue;
      // Another process may have taken its first scan at the same time. Both may give theirs back, and try again later.
      if (job.kind === 'scan' && hasOthersScan(await leasedAt(now), owner)) {
        await lease(job.id, owner, FREE);
        continue;
      }
      const work = await documents.data('jobs', job.id);
      // A job that was cancelled meanwhile has no work any more.
      if (work === undefined || work.byteLength === 0) continue;
      return { id: job.id, kind: job.kind, total: job.total, work, isResumed: job.startedAt !== null };
    }
  }

  return {
    add: async ({ id, kind, total, work, keysShare, listBytes }, max = STORED_LIMITS.unfinishedJobs) => {
      const createdAt = await documents.now();
      const notYet = { startedAt: null, finishedAt: null, failure: null };
      const job: Job = { id, createdAt, kind, state: 'queued', total, listBytes, ...notYet };
      await documents.addWithin('jobs', { ...documentOf(job), data: work }, { max, keysShare });
      // The job is stored, so a failure here must not be answered. The next job makes the room then.
      await makeRoom(keyOfJob(id), { ...STORED_LIMITS.finishedJobs, count: max.count }).catch(() => undefined);
    },
    requireRoom: ({ id, keysShare }, max) =>
      requireRoom(documents, 'jobs', keyOfJob(id), { max, keysShare }, { count: 1, bytes: 0 }),
    putList: async (id, part, bytes) => {
      const neededBy = part === 0 ? (await documents.now()) + LIST_LIFE_MS : null;
      const document = { id: `${id}/${part}`, job: id, position: part, neededBy, body: '', data: bytes };
      await documents.add('job_lists', [document]);
    },
    list: (id, part) => documents.data('job_lists', `${id}/${part}`),
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
        failed: outcome !== STORED,
        body,
      });
      return { items: items.map(itemIn), isCut };
    },
    take: (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) => take(owner, leaseMs, isForIdleKeys),
    done: async (id, from, to) => {
      const where = [ofJob(id), ['position', '>', from - 1], ['position', '<', to]] as const;
      const found = await documents.list('job_results', where, { by: 'position', isBrief: true });
      return found.map(({ position }) => position);
    },
    progress: async (id) => {
      const newestFirst = { by: 'position', isDescending: true, limit: 1, isBrief: true } as const;
      const [{ count: done }, [last]] = await Promise.all([
        documents.usage('job_results', [ofJob(id)]),
        documents.list('job_results', [ofJob(id)], newestFirst),
      ]);
      return { done, highest: last?.position ?? -1 };
    },
    renew: async (id, owner) => {
      const freeAt = (await documents.now()) + JOB_LEASE_MS;
      return (await lease(id, owner, { owner, freeAt })) !== undefined;
    },
    put: async (id, owner, items) => {
      if ((await find(documents, 'jobs', id))?.owner !== owner) return;
      await documents.add(
        'job_results',
        items.map(({ index, failed, code = 'failed', body }) => {
          const outcome = failed ? code : STORED;
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
      await dropList(id);
      await makeRoom(keyOfJob(id), max).catch(() => undefined);
    },
    release: async (id, owner) => void (await lease(id, owner, FREE)),
    cancel: async (id) => {
      const about = { finishedAt: await documents.now(), outcomeBytes: await outcomeBytes(id) };
      await change(documents, 'jobs', id, (found) =>
        found?.phase === 'unfinished' ? ended({ ...jobIn(found), ...about, state: 'cancelled' }) : undefined,
      );
      await dropList(id);
      return get(id);
    },
    prune: async (lifeMs = JOB_LIFE_MS) => {
      const now = await documents.now();
      const oldest = { by: 'finishedAt', limit: REMOVED_TOGETHER, isBrief: true } as const;
      await remove(await documents.list('jobs', [['finishedAt', '<=', now - lifeMs]], oldest));
      // Lists whose job has ended meanwhile, or was never added because a process ended.
      const late = await documents.list('job_lists', [['neededBy', '<=', now]], { by: 'neededBy', isBrief: true });
      for (const { job } of late) await dropList(job);
    },
  };
}

/** Whether another owner than this one has a scan. */
function hasOthersScan(leased: readonly StoredDocument<'jobs'>[], owner: string): boolean {
  return leased.some((job) => job.kind === 'scan' && job.owner !== owner);
}

function ofJob(id: string): readonly ['job', '=', string] {
  return ['job', '=', id];
}

function jobIn({ id, createdAt, finishedAt, kind, body }: StoredDocument<'jobs'>): Job {
  const job: Omit<Job, 'id' | 'createdAt' | 'finishedAt' | 'kind'> = JSON.parse(body);
  return { ...job, id, createdAt, finishedAt, kind: kindIn(kind) };
}

/** Returns the document of a job that no process runs. */
function documentOf({ id, createdAt, finishedAt, kind, ...job }: Job): Document<'jobs'> {
  const phase = finishedAt === null ? 'unfinished' : 'finished';
  const about = { apiKey: keyOfJob(id), kind, phase, createdAt, finishedAt };
  return { id, ...FREE, ...about, body: JSON.stringify(job), besides: job.outcomeBytes ?? job.listBytes };
}

function ended(job: Job & { readonly finishedAt: number }): Document<'jobs'> {
  return { ...documentOf(job), data: NOTHING };
}

function kindIn(text: string): JobKind {
  const kind = JOB_KINDS.find((each) => each === text);
  if (kind === undefined) throw new TypeError(`${text} is no kind of job`);
  return kind;
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
