import type { DatabaseSync } from 'node:sqlite';
import { CATALOGUE, CapstanError, type FailureCode } from '../../capture/errors.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobEnd,
  type JobItem,
  type JobKind,
  type JobRecord,
  type JobState,
  type JobStore,
  keyOfJob,
  MAX_JOBS,
  type NewJob,
  refusalOfJob,
  type TakenJob,
  type Unfinished,
} from '../ports/job-store.ts';
import type { AskFor, Handlers } from './calls.ts';
import { inTransaction } from './transaction.ts';

export interface JobCalls {
  addJob: { args: { readonly job: NewJob; readonly maxJobs: number }; answer: Unfinished | null };
  getJob: { args: { readonly id: string }; answer: JobRecord | null };
  newestJobs: { args: { readonly limit: number; readonly key: string | null }; answer: string[] };
  jobResults: { args: { readonly id: string; readonly limit: number; readonly after: number }; answer: JobItem[] };
  takeJob: {
    args: { readonly owner: string; readonly leaseMs: number; readonly maxRunning: number };
    answer: TakenJob | null;
  };
  renewJob: { args: { readonly id: string; readonly owner: string }; answer: boolean };
  putJobResults: {
    args: { readonly id: string; readonly owner: string; readonly items: readonly JobItem[] };
    answer: null;
  };
  finishJob: { args: { readonly id: string; readonly owner: string; readonly end: JobEnd }; answer: null };
  releaseJob: { args: { readonly id: string; readonly owner: string }; answer: null };
  cancelJob: { args: { readonly id: string }; answer: null };
  pruneJobs: { args: { readonly lifeMs: number }; answer: null };
}

/** Returns a job store that calls the worker thread. */
export function sqliteJobs(ask: AskFor<JobCalls>): JobStore {
  const get = async (id: string) => (await ask('getJob', { id })) ?? undefined;
  return {
    add: async (job, maxJobs = MAX_JOBS) => {
      const full = await ask('addJob', { job, maxJobs });
      if (full !== null) throw refusalOfJob(job, full, maxJobs) ?? new CapstanError('queue_full');
    },
    get,
    newest: (limit, key) => ask('newestJobs', { limit, key: key ?? null }),
    results: (id, limit, after = -1) => ask('jobResults', { id, limit, after }),
    take: async (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) =>
      (await ask('takeJob', { owner, leaseMs, maxRunning: isForIdleKeys ? 0 : MAX_JOBS })) ?? undefined,
    renew: (id, owner) => ask('renewJob', { id, owner }),
    put: async (id, owner, items) => {
      await ask('putJobResults', { id, owner, items });
    },
    finish: async (id, owner, end) => {
      await ask('finishJob', { id, owner, end });
    },
    release: async (id, owner) => {
      await ask('releaseJob', { id, owner });
    },
    cancel: async (id) => {
      await ask('cancelJob', { id });
      return get(id);
    },
    prune: async (lifeMs = JOB_LIFE_MS) => {
      await ask('pruneJobs', { lifeMs });
    },
  };
}

const UNFINISHED = `state IN ('queued', 'running')`;
/** The key that a job belongs to, as `keyOfJob` returns it. */
const KEY = `substr(id, 1, instr(id, '.'))`;

/** Runs in the worker. */
export function jobTable(db: DatabaseSync): Handlers<JobCalls> {
  const insert = db.prepare(
    `INSERT INTO jobs (id, kind, state, total, created_at, lease_until, work) VALUES (?, ?, 'queued', ?, ?, 0, ?)`,
  );
  const countUnfinished = db.prepare(
    `SELECT count(*) AS n, coalesce(sum(${KEY} = ?), 0) AS own FROM jobs WHERE ${UNFINISHED}`,
  );
  const countOfKey = db.prepare(`SELECT count(*) AS n FROM jobs WHERE ${KEY} = ?`);
  const oldestFinished = db.prepare(
    `SELECT id FROM jobs WHERE NOT ${UNFINISHED} AND ${KEY} = ? ORDER BY finished_at LIMIT ?`,
  );
  const finishedBefore = db.prepare(`SELECT id FROM jobs WHERE NOT ${UNFINISHED} AND finished_at <= ?`);
  const removeResults = db.prepare('DELETE FROM job_results WHERE job = ?');
  const remove = db.prepare('DELETE FROM jobs WHERE id = ?');
  const find = db.prepare(
    'SELECT id, kind, state, total, created_at, started_at, finished_at, code, reason FROM jobs WHERE id = ?',
  );
  const newest = db.prepare(
    `SELECT id FROM jobs WHERE ?1 IS NULL OR ${KEY} = ?1 ORDER BY created_at DESC, rowid DESC LIMIT ?2`,
  );
  const count = db.prepare(
    'SELECT count(*) AS done, coalesce(sum(failed), 0) AS failed FROM job_results WHERE job = ?',
  );
  const page = db.prepare(
    'SELECT item, failed, body FROM job_results WHERE job = ? AND item > ? ORDER BY item LIMIT ?',
  );
  // Sorts ids alone: the work of a job may be large.
  const free = db.prepare(
    `WITH unfinished AS (
      SELECT id, ${KEY} AS key, created_at, owner IS NOT NULL AND lease_until > ? AS is_leased
      FROM jobs WHERE ${UNFINISHED}
    ), busy AS (SELECT key, sum(is_leased) AS running FROM unfinished GROUP BY key)
    SELECT id FROM unfinished JOIN busy USING (key) WHERE NOT is_leased AND running <= ?
    ORDER BY running, created_at LIMIT 1`,
  );
  const workOf = db.prepare('SELECT id, kind, work FROM jobs WHERE id = ?');
  const done = db.prepare('SELECT item FROM job_results WHERE job = ? ORDER BY item');
  const take = db.prepare(
    `UPDATE jobs SET state = 'running', owner = ?, lease_until = ?, started_at = coalesce(started_at, ?) WHERE id = ?`,
  );
  const renew = db.prepare(`UPDATE jobs SET lease_until = ? WHERE id = ? AND owner = ? AND state = 'running'`);
  const held = db.prepare(`SELECT 1 FROM jobs WHERE id = ? AND owner = ? AND state = 'running'`);
  const put = db.prepare(
    'INSERT INTO job_results (job, item, failed, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const finish = db.prepare(
    `UPDATE jobs SET state = ?, finished_at = ?, code = ?, reason = ?, work = x'' WHERE id = ? AND owner = ? AND state = 'running'`,
  );
  const release = db.prepare(`UPDATE jobs SET owner = NULL WHERE id = ? AND owner = ? AND state = 'running'`);
  const cancel = db.prepare(
    `UPDATE jobs SET state = 'cancelled', finished_at = ?, work = x'' WHERE id = ? AND ${UNFINISHED}`,
  );

  function removeAll(rows: readonly Record<string, unknown>[]): void {
    for (const { id } of rows) {
      removeResults.run(String(id));
      remove.run(String(id));
    }
  }

  return {
    addJob: ({ job, maxJobs }, nowMs) =>
      inTransaction(db, () => {
        const key = keyOfJob(job.id);
        const counts = countUnfinished.get(key);
        const unfinished = { all: Number(counts?.n), own: Number(counts?.own) };
        if (refusalOfJob(job, unfinished, maxJobs) !== undefined) return unfinished;
        removeAll(oldestFinished.all(key, Math.max(0, Number(countOfKey.get(key)?.n) + 1 - maxJobs)));
        insert.run(job.id, job.kind, job.total, nowMs, job.work);
        return null;
      }),
    getJob: ({ id }) => {
      const row = find.get(id);
      return row === undefined ? null : recordOf(row, count.get(id) ?? {});
    },
    newestJobs: ({ limit, key }) => newest.all(key, limit).map(({ id }) => String(id)),
    jobResults: ({ id, limit, after }) =>
      page
        .all(id, after, limit)
        .map(({ item, failed, body }) => ({ index: Number(item), failed: failed === 1, body: String(body) })),
    takeJob: ({ owner, leaseMs, maxRunning }, nowMs) =>
      inTransaction(db, () => {
        const next = free.get(nowMs, maxRunning);
        const row = next === undefined ? undefined : workOf.get(String(next.id));
        if (row === undefined || !(row.work instanceof Uint8Array)) return null;
        const id = String(row.id);
        take.run(owner, nowMs + leaseMs, nowMs, id);
        return { id, kind: kindOf(row.kind), work: row.work, done: done.all(id).map(({ item }) => Number(item)) };
      }),
    renewJob: ({ id, owner }, nowMs) => Number(renew.run(nowMs + JOB_LEASE_MS, id, owner).changes) > 0,
    putJobResults: ({ id, owner, items }) =>
      inTransaction(db, () => {
        if (held.get(id, owner) === undefined) return null;
        for (const { index, failed, body } of items) put.run(id, index, failed ? 1 : 0, body);
        return null;
      }),
    finishJob: ({ id, owner, end }, nowMs) => {
      const failure = end.state === 'failed' ? end.failure : null;
      erasing(db, () => finish.run(end.state, nowMs, failure?.code ?? null, failure?.reason ?? null, id, owner));
      return null;
    },
    releaseJob: ({ id, owner }) => {
      release.run(id, owner);
      return null;
    },
    cancelJob: ({ id }, nowMs) => {
      erasing(db, () => cancel.run(nowMs, id));
      return null;
    },
    pruneJobs: ({ lifeMs }, nowMs) =>
      inTransaction(db, () => {
        removeAll(finishedBefore.all(nowMs - lifeMs));
        return null;
      }),
  };
}

/** Overwrites the freed bytes of `work` in the file: the requests of a job may contain credentials. */
function erasing(db: DatabaseSync, work: () => void): void {
  db.exec('PRAGMA secure_delete = ON');
  try {
    work();
  } finally {
    db.exec('PRAGMA secure_delete = OFF');
  }
}

function recordOf(row: Record<string, unknown>, counts: Record<string, unknown>): JobRecord {
  const { code, reason } = row;
  return {
    id: String(row.id),
    kind: kindOf(row.kind),
    state: stateOf(row.state),
    total: Number(row.total),
    done: Number(counts.done ?? 0),
    failed: Number(counts.failed ?? 0),
    createdAt: iso(Number(row.created_at)),
    startedAt: row.started_at === null ? null : iso(Number(row.started_at)),
    finishedAt: row.finished_at === null ? null : iso(Number(row.finished_at)),
    failure: isFailureCode(code) ? { code, reason: String(reason) } : null,
  };
}

function kindOf(value: unknown): JobKind {
  return value === 'screenshot' ? value : 'batch';
}

function stateOf(value: unknown): JobState {
  return value === 'queued' || value === 'running' || value === 'completed' || value === 'cancelled' ? value : 'failed';
}

function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(CATALOGUE, value);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
