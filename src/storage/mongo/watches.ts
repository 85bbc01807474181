import type { Db } from 'mongodb';
import {
  refusalOfWatch,
  type StoredRun,
  type StoredWatch,
  WATCH_LEASE_MS,
  type WatchStore,
} from '../ports/watch-store.ts';
import { insertNew } from './collections.ts';
import type { Ask } from './connection.ts';
import { inTurn } from './lease.ts';

interface WatchDocument {
  readonly _id: number;
  readonly api_key_name: string;
  readonly host: string;
  readonly every_ms: number | null;
  readonly due_at: number | null;
  readonly labels: readonly string[];
  readonly owner: string | null;
  readonly lease_until: number;
  readonly definition: string;
  readonly progress: string;
}

interface RunDocument {
  /** Watch and time: a time has one run. */
  readonly _id: string;
  readonly watch: number;
  readonly due_at: number;
  readonly body: string;
}

const FREE = { owner: null, lease_until: 0 };

/** Creates the indexes. */
export async function prepareWatches(db: Db): Promise<void> {
  const { watches, runs } = collectionsOf(db);
  await watches.createIndex({ due_at: 1, lease_until: 1 }, { name: 'by_due' });
  await watches.createIndex({ api_key_name: 1, _id: 1 }, { name: 'by_key' });
  await watches.createIndex({ labels: 1, _id: 1 }, { name: 'by_label' });
  await runs.createIndex({ watch: 1, due_at: -1 }, { name: 'by_watch' });
}

function collectionsOf(db: Db) {
  return { watches: db.collection<WatchDocument>('watches'), runs: db.collection<RunDocument>('watch_runs') };
}

export function mongoWatches(db: Db, ask: Ask): WatchStore {
  const { watches, runs } = collectionsOf(db);
  const oneByOne = inTurn(db, ask, 'watches');

  const runsBeyond = (watch: number, keep: number): Promise<StoredRun[]> =>
    runs.find({ watch }).sort({ due_at: -1 }).skip(keep).map(runOf).toArray();

  return {
    add: (watch, maxWatches) =>
      oneByOne(async () => {
        const { id, apiKeyName, host, everyMs, dueAt, labels, definition, progress } = watch;
        const [all, own] = await Promise.all([
          watches.countDocuments({}, { hint: '_id_' }),
          watches.countDocuments({ api_key_name: apiKeyName }),
        ]);
        const refusal = refusalOfWatch(watch, { all, own }, maxWatches);
        if (refusal !== undefined) throw refusal;
        const fields = { host, every_ms: everyMs, due_at: dueAt, labels, definition, progress };
        await watches.insertOne({ _id: id, api_key_name: apiKeyName, ...fields, ...FREE });
      }),
    get: (id) =>
      ask(async () => {
        const document = await watches.findOne({ _id: id });
        return document === null ? undefined : watchOf(document);
      }),
    list: ({ ofKey, label, after, limit }) =>
      ask(() =>
        watches
          .find({
            ...(ofKey !== undefined && { api_key_name: ofKey }),
            ...(label !== undefined && { labels: label }),
            _id: { $gt: after },
          })
          .sort({ _id: 1 })
          .limit(limit)
          .map(watchOf)
          .toArray(),
      ),
    change: (id, { host, everyMs, dueAt, labels, definition }) =>
      ask(async () => {
        const changed = { host, every_ms: everyMs, due_at: dueAt, labels, definition, ...FREE };
        return (await watches.updateOne({ _id: id }, { $set: changed })).matchedCount > 0;
      }),
    remove: (id) =>
      ask(async () => {
        const { deletedCount } = await watches.deleteOne({ _id: id });
        const kept = await runsBeyond(id, 0);
        await runs.deleteMany({ watch: id });
        return deletedCount > 0 ? kept : undefined;
      }),
    take: (owner, { now, exceptHosts, exceptKeys }) =>
      ask(async () => {
        const taken = await watches.findOneAndUpdate(
          {
            due_at: { $ne: null, $lte: now },
            lease_until: { $lte: now },
            host: { $nin: [...exceptHosts] },
            api_key_name: { $nin: [...exceptKeys] },
          },
          { $set: { owner, lease_until: now + WATCH_LEASE_MS } },
          { sort: { due_at: 1 }, returnDocument: 'after' },
        );
        if (taken === null || taken.due_at === null) return undefined;
        const run = await runs.findOne({ _id: runId(taken._id, taken.due_at) });
        return { ...watchOf(taken), dueAt: taken.due_at, run: run?.body };
      }),
    renew: (id, owner, now) =>
      ask(async () => {
        const lease = { $set: { lease_until: now + WATCH_LEASE_MS } };
        return (await watches.updateOne({ _id: id, owner }, lease)).matchedCount > 0;
      }),
    put: (id, owner, { dueAt, body }) =>
      ask(async () => {
        if ((await watches.countDocuments({ _id: id, owner })) === 0) return false;
        await insertNew(runs, [{ _id: runId(id, dueAt), watch: id, due_at: dueAt, body }]);
        return true;
      }),
    finish: (id, owner, { dueAt, progress, keep }) =>
      ask(async () => {
        const finished = { due_at: dueAt, progress, ...FREE };
        const { matchedCount } = await watches.updateOne({ _id: id, owner }, { $set: finished });
        if (matchedCount === 0) return undefined;
        const old = await runsBeyond(id, keep);
        const [newest] = old;
        if (newest !== undefined) await runs.deleteMany({ watch: id, due_at: { $lte: newest.dueAt } });
        return old;
      }),
    release: (id, owner, at) =>
      ask(async () => {
        await watches.updateOne({ _id: id, owner }, { $set: { due_at: at, ...FREE } });
      }),
    runs: (id, limit, before) =>
      ask(() =>
        runs
          .find({ watch: id, due_at: { $lt: before } })
          .sort({ due_at: -1 })
          .limit(limit)
          .map(runOf)
          .toArray(),
      ),
    hasten: (now) =>
      ask(async () => {
        const isLate = { $gt: ['$due_at', { $add: [now, { $multiply: [2, '$every_ms'] }] }] };
        await watches.updateMany({ every_ms: { $ne: null }, due_at: { $ne: null }, $expr: isLate }, [
          { $set: { due_at: { $add: [now, '$every_ms'] } } },
        ]);
      }),
  };
}

function runId(watch: number, dueAt: number): string {
  return `${watch}/${dueAt}`;
}

function watchOf(document: WatchDocument): StoredWatch {
  return {
    id: document._id,
    apiKeyName: document.api_key_name,
    host: document.host,
    everyMs: document.every_ms,
    dueAt: document.due_at,
    definition: document.definition,
    progress: document.progress,
  };
}

function runOf({ due_at: dueAt, body }: RunDocument): StoredRun {
  return { dueAt, body };
}
