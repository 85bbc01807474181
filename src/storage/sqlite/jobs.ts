import type { DatabaseSync } from 'node:sqlite';
import { CATALOGUE, type FailureCode } from '../../capture/errors.ts';
import {
  JOB_LEASE_MS,
  JOB_LIFE_MS,
  type JobKind,
  type JobRecord,
  type JobState,
  type JobStore,
  keyOfJob,
  MAX_JOBS,
  refusalOfJob,
} from '../ports/job-store.ts';
import type { Synchronous } from './remote.ts';
import { erasing, inTransaction } from './transaction.ts';

const UNFINISHED = `state IN ('queued', 'running')`;
/** The key that a job belongs to, as `keyOfJob` returns it. */
const KEY = `substr(id, 1, instr(id, '.'))`;

/** Runs in the worker. */
export function jobTable(db: DatabaseSync): Synchronous<JobStore> {
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

  function get(id: string): JobRecord | undefined {
    const row = find.get(id);
    return row === undefined ? undefined : recordOf(row, count.get(id) ?? {});
  }

  return {
    add: (job, maxJobs = MAX_JOBS) =>
      inTransaction(db, () => {
        const key = keyOfJob(job.id);
        const counts = countUnfinished.get(key);
        const refusal = refusalOfJob(job, { all: Number(counts?.n), own: Number(counts?.own) }, maxJobs);
        if (refusal !== undefined) throw refusal;
        removeAll(oldestFinished.all(key, Math.max(0, Number(countOfKey.get(key)?.n) + 1 - maxJobs)));
        insert.run(job.id, job.kind, job.total, Date.now(), job.work);
      }),
    get,
    newest: (limit, key) => newest.all(key ?? null, limit).map(({ id }) => String(id)),
    results: (id, limit, after = -1) =>
      page
        .all(id, after, limit)
        .map(({ item, failed, body }) => ({ index: Number(item), failed: failed === 1, body: String(body) })),
    take: (owner, { leaseMs = JOB_LEASE_MS, isForIdleKeys = false } = {}) =>
      inTransaction(db, () => {
        const nowMs = Date.now();
        const next = free.get(nowMs, isForIdleKeys ? 0 : MAX_JOBS);
        const row = next === undefined ? undefined : workOf.get(String(next.id));
        if (row === undefined || !(row.work instanceof Uint8Array)) return undefined;
        const id = String(row.id);
        take.run(owner, nowMs + leaseMs, nowMs, id);
        return { id, kind: kindOf(row.kind), work: row.work, done: done.all(id).map(({ item }) => Number(item)) };
      }),
    renew: (id, owner) => Number(renew.run(Date.now() + JOB_LEASE_MS, id, owner).changes) > 0,
    put: (id, owner, items) =>
      inTransaction(db, () => {
        if (held.get(id, owner) === undefined) return;
        for (const { index, failed, body } of items) put.run(id, index, failed ? 1 : 0, body);
      }),
    finish: (id, owner, end) => {
      const failure = end.state === 'failed' ? end.failure : null;
      erasing(db, () => finish.run(end.state, Date.now(), failure?.code ?? null, failure?.reason ?? null, id, owner));
    },
    release: (id, owner) => {
      release.run(id, owner);
    },
    cancel: (id) => {
      erasing(db, () => cancel.run(Date.now(), id));
      return get(id);
    },
    prune: (lifeMs = JOB_LIFE_MS) => inTransaction(db, () => removeAll(finishedBefore.all(Date.now() - lifeMs))),
  };
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
