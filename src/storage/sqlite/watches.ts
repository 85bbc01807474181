import type { DatabaseSync } from 'node:sqlite';
import {
  refusalOfWatch,
  type StoredRun,
  type StoredWatch,
  WATCH_LEASE_MS,
  type WatchStore,
} from '../ports/watch-store.ts';
import type { Synchronous } from './remote.ts';
import { erasing, inTransaction } from './transaction.ts';

const COLUMNS = 'id, api_key_name, host, every_ms, due_at, definition, progress';

/** Runs in the worker. */
export function watchTable(db: DatabaseSync): Synchronous<WatchStore> {
  const count = db.prepare('SELECT count(*) AS n, coalesce(sum(api_key_name = ?), 0) AS own FROM watches');
  const insert = db.prepare(`INSERT INTO watches (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM watches WHERE id = ?`);
  const page = db.prepare(`SELECT ${COLUMNS} FROM watches WHERE id > ? ORDER BY id LIMIT ?`);
  const pageOfKey = db.prepare(`SELECT ${COLUMNS} FROM watches WHERE api_key_name = ? AND id > ? ORDER BY id LIMIT ?`);
  const pageOfLabel = db.prepare(
    `SELECT ${COLUMNS} FROM watch_labels JOIN watches ON id = watch
    WHERE label = ?1 AND watch > ?2 AND (?3 IS NULL OR api_key_name = ?3) ORDER BY watch LIMIT ?4`,
  );
  const addLabels = db.prepare('INSERT INTO watch_labels (watch, label) SELECT DISTINCT ?, value FROM json_each(?)');
  const removeLabels = db.prepare('DELETE FROM watch_labels WHERE watch = ?');
  const change = db.prepare(
    'UPDATE watches SET host = ?, every_ms = ?, due_at = ?, definition = ?, owner = NULL, lease_until = 0 WHERE id = ?',
  );
  const remove = db.prepare('DELETE FROM watches WHERE id = ?');
  const removeRuns = db.prepare('DELETE FROM watch_runs WHERE watch = ? AND due_at <= ?');
  const due = db.prepare(
    `SELECT ${COLUMNS} FROM watches WHERE due_at <= ?1 AND lease_until <= ?1
      AND host NOT IN (SELECT value FROM json_each(?2)) AND api_key_name NOT IN (SELECT value FROM json_each(?3))
    ORDER BY due_at LIMIT 1`,
  );
  const take = db.prepare('UPDATE watches SET owner = ?, lease_until = ? WHERE id = ?');
  const renew = db.prepare('UPDATE watches SET lease_until = ? WHERE id = ? AND owner = ?');
  const held = db.prepare('SELECT 1 FROM watches WHERE id = ? AND owner = ?');
  const runAt = db.prepare('SELECT body FROM watch_runs WHERE watch = ? AND due_at = ?');
  const put = db.prepare('INSERT INTO watch_runs (watch, due_at, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const finish = db.prepare(
    'UPDATE watches SET due_at = ?, progress = ?, owner = NULL, lease_until = 0 WHERE id = ? AND owner = ?',
  );
  const release = db.prepare('UPDATE watches SET due_at = ?, owner = NULL, lease_until = 0 WHERE id = ? AND owner = ?');
  const runs = db.prepare(
    'SELECT due_at, body FROM watch_runs WHERE watch = ? AND due_at < ? ORDER BY due_at DESC LIMIT ?',
  );
  const runsBeyond = db.prepare(
    'SELECT due_at, body FROM watch_runs WHERE watch = ? ORDER BY due_at DESC LIMIT -1 OFFSET ?',
  );
  const hasten = db.prepare('UPDATE watches SET due_at = ?1 + every_ms WHERE due_at > ?1 + 2 * every_ms');

  return {
    add: (watch, maxWatches) =>
      inTransaction(db, () => {
        const counts = count.get(watch.apiKeyName);
        const refusal = refusalOfWatch(watch, { all: Number(counts?.n), own: Number(counts?.own) }, maxWatches);
        if (refusal !== undefined) throw refusal;
        const { id, apiKeyName, host, everyMs, dueAt, labels, definition, progress } = watch;
        insert.run(id, apiKeyName, host, everyMs, dueAt, definition, progress);
        addLabels.run(id, JSON.stringify(labels));
      }),
    get: (id) => {
      const row = find.get(id);
      return row && watchOf(row);
    },
    list: ({ ofKey, label, after, limit }) => {
      if (label !== undefined) return pageOfLabel.all(label, after, ofKey ?? null, limit).map(watchOf);
      return (ofKey === undefined ? page.all(after, limit) : pageOfKey.all(ofKey, after, limit)).map(watchOf);
    },
    change: (id, { host, everyMs, dueAt, labels, definition }) =>
      erasing(db, () =>
        inTransaction(db, () => {
          if (Number(change.run(host, everyMs, dueAt, definition, id).changes) === 0) return false;
          removeLabels.run(id);
          addLabels.run(id, JSON.stringify(labels));
          return true;
        }),
      ),
    remove: (id) =>
      erasing(db, () =>
        inTransaction(db, () => {
          const kept = runsBeyond.all(id, 0).map(runOf);
          removeRuns.run(id, Number.MAX_SAFE_INTEGER);
          removeLabels.run(id);
          return Number(remove.run(id).changes) > 0 ? kept : undefined;
        }),
      ),
    take: (owner, { now, exceptHosts, exceptKeys }) =>
      inTransaction(db, () => {
        const row = due.get(now, JSON.stringify(exceptHosts), JSON.stringify(exceptKeys));
        if (row === undefined) return undefined;
        const watch = watchOf(row);
        const dueAt = Number(row.due_at);
        take.run(owner, now + WATCH_LEASE_MS, watch.id);
        const run = runAt.get(watch.id, dueAt);
        return { ...watch, dueAt, run: run === undefined ? undefined : String(run.body) };
      }),
    renew: (id, owner, now) => Number(renew.run(now + WATCH_LEASE_MS, id, owner).changes) > 0,
    put: (id, owner, { dueAt, body }) =>
      inTransaction(db, () => {
        if (held.get(id, owner) === undefined) return false;
        put.run(id, dueAt, body);
        return true;
      }),
    finish: (id, owner, { dueAt, progress, keep }) =>
      inTransaction(db, () => {
        if (Number(finish.run(dueAt, progress, id, owner).changes) === 0) return undefined;
        const old = runsBeyond.all(id, keep).map(runOf);
        const [newest] = old;
        if (newest !== undefined) removeRuns.run(id, newest.dueAt);
        return old;
      }),
    release: (id, owner, at) => {
      release.run(at, id, owner);
    },
    runs: (id, limit, before) => runs.all(id, before, limit).map(runOf),
    hasten: (now) => {
      hasten.run(now);
    },
  };
}

function watchOf(row: Record<string, unknown>): StoredWatch {
  return {
    id: Number(row.id),
    apiKeyName: String(row.api_key_name),
    host: String(row.host),
    everyMs: row.every_ms === null ? null : Number(row.every_ms),
    dueAt: row.due_at === null ? null : Number(row.due_at),
    definition: String(row.definition),
    progress: String(row.progress),
  };
}

function runOf({ due_at: dueAt, body }: Record<string, unknown>): StoredRun {
  return { dueAt: Number(dueAt), body: String(body) };
}
