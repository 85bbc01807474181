import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import type { Document, DocumentStore } from '../ports/document-store.ts';
import { WATCH_LEASE_MS, type WatchStore } from '../ports/watch-store.ts';
import { change, find, pageOf, whereKey } from './find-and-change.ts';
import { changeOwn } from './lease.ts';
import { withLock } from './lock.ts';
import { amountOf, requireRoom } from './room.ts';
import { MAX_LEASE_MS, takeDue } from './take-watches.ts';
import {
  documentOf,
  freed,
  idOf,
  storedIn,
  storedOf,
  type Watch,
  type WatchDocument,
  watchIn,
} from './watch-document.ts';
import { addRun, briefRuns, overdue, removeRuns, runsBefore } from './watch-runs.ts';

/** Number of watches that are changed between two reads of the clock. */
const HASTENED_TOGETHER = 500;

export function watchesIn(documents: DocumentStore): WatchStore {
  const oneByOne = withLock(documents);

  /** Changes the watch that this owner has leased; false when it has not. */
  async function changeLeased(
    id: number,
    owner: string,
    next: (watch: Watch, found: WatchDocument) => Document<'watches'>,
  ): Promise<boolean> {
    const changed = changeOwn(documents, 'watches', idOf(id), owner, (found) => next(watchIn(found), found));
    return (await changed) !== undefined;
  }

  return {
    add: async ({ keysShare, definition, ...given }, max) => {
      const watch = { ...documentOf({ ...given, runsBytes: 0 }), data: Buffer.from(definition) };
      await documents.addWithin('watches', watch, { max, keysShare });
    },
    get: async (id, ofKey) => {
      const found = await find(documents, 'watches', idOf(id), ...whereKey(ofKey));
      return found && storedIn(found);
    },
    definition: async (id) => {
      const data = await documents.data('watches', idOf(id));
      return data && Buffer.from(data).toString();
    },
    list: async ({ ofKey, label, after, limit }) => {
      const ofLabel = label === undefined ? [] : [['labels', 'has', label] as const];
      const where = [...whereKey(ofKey), ['id', '>', idOf(after)] as const, ...ofLabel];
      const { items, isCut } = await pageOf(documents, 'watches', where, { limit });
      return { items: items.map(storedIn), isCut };
    },
    change: async (id, next, max) => {
      for (;;) {
        const found = await find(documents, 'watches', idOf(id));
        if (found === undefined) return undefined;
        const old = watchIn(found);
        const { keysShare, definition, ...wanted } = await next(storedOf(old));
        const plannedAt = wanted.dueAt === old.dueAt ? old.plannedAt : undefined;
        // The owner of a stored run announces it; another run is dropped when it ends.
        const isLeased = found.owner !== '';
        const isDropped = isLeased && old.run === undefined;
        const droppedHost = isDropped ? (old.droppedHost ?? old.host) : undefined;
        const changed: Watch = { ...old, ...wanted, plannedAt, droppedHost };
        const document = documentOf(changed, isLeased ? found : undefined);
        const data = definition === undefined ? undefined : Buffer.from(definition);
        const growth = data === undefined ? 0 : amountOf('watches', { ...document, data }).bytes - found.bytes;
        const replace = () => documents.replace('watches', { ...document, data }, found.revision);
        const grow = async () => {
          await requireRoom(documents, 'watches', old.apiKeyName, { max, keysShare }, { count: 0, bytes: growth });
          return replace();
        };
        // Changes at the same time count one after another, so that together they stay within the share.
        if (await (growth > 0 ? oneByOne(grow) : replace())) return storedOf(changed);
      }
    },
    remove: async (id) => {
      const removed = await documents.remove('watches', [['id', '=', idOf(id)]]);
      const runs = await removeRuns(documents, id);
      return removed > 0 ? runs : undefined;
    },
    take: (owners, due) => takeDue(documents, owners, due),
    renew: (id, owner, now) =>
      changeLeased(id, owner, (watch) => documentOf(watch, { owner, freeAt: now + WATCH_LEASE_MS })),
    put: async (id, owner, run) => {
      let isWanted = false;
      const isOwn = await changeLeased(id, owner, (watch, lease) => {
        isWanted = watch.droppedHost === undefined;
        return isWanted ? documentOf({ ...watch, run: { ...run, wasDueAt: watch.dueAt } }, lease) : freed(watch);
      });
      if (isOwn && isWanted) await addRun(documents, id, run);
      return isOwn && isWanted;
    },
    finish: async (id, owner, next, maxOfKey = STORED_LIMITS.keyRuns.bytes) => {
      const runs = await briefRuns(documents, id);
      const maxBytes = await bytesOfRuns(documents, id, maxOfKey);
      let lastRemoved: number | undefined;
      const isOwn = await changeLeased(id, owner, (watch) => {
        const { keep, ...after } = next(storedOf(watch));
        const { last, keptBytes } = overdue(runs, { count: keep, bytes: maxBytes });
        lastRemoved = last?.dueAt;
        return freed({ ...watch, ...after, run: undefined, runsBytes: keptBytes });
      });
      if (isOwn) return lastRemoved === undefined ? [] : removeRuns(documents, id, lastRemoved);
      // It may have been removed just before the run was added.
      if ((await find(documents, 'watches', idOf(id))) === undefined) await removeRuns(documents, id);
      return undefined;
    },
    release: async (id, owner, at) => {
      await changeLeased(id, owner, (watch) =>
        // A change has decided when a watch is due whose run it dropped.
        freed(watch.droppedHost === undefined ? { ...watch, dueAt: at, plannedAt: undefined } : watch),
      );
    },
    runs: (id, limit, before) => runsBefore(documents, id, before, limit),
    hasten: async (now, next) => {
      const early = { by: 'plausibleFrom', limit: HASTENED_TOGETHER } as const;
      for (;;) {
        const late = await documents.list('watches', [['plausibleFrom', '>', now]], early);
        for (const { id } of late) {
          await change(documents, 'watches', id, (found) => {
            if (found === undefined || (found.plausibleFrom ?? 0) <= now) return undefined;
            const watch = watchIn(found);
            return documentOf({ ...watch, dueAt: next(watch.id, watch.everyMs ?? 0), plannedAt: undefined });
          });
        }
        if (late.length < HASTENED_TOGETHER) break;
      }
      for (const found of await documents.list('watches', [['owner', '>', '']], { by: 'owner' })) {
        if ((found.freeAt ?? 0) <= now + MAX_LEASE_MS) continue;
        await documents.replace('watches', freed(watchIn(found)), found.revision);
      }
    },
  };
}

/** Returns the bytes that the runs of a watch may have: less when its key has many watches. */
async function bytesOfRuns(documents: DocumentStore, id: number, maxOfKey: number): Promise<number> {
  const found = await find(documents, 'watches', idOf(id));
  if (found === undefined) return STORED_LIMITS.watchRuns.bytes;
  const { count } = await documents.usage('watches', whereKey(watchIn(found).apiKeyName));
  return Math.min(STORED_LIMITS.watchRuns.bytes, maxOfKey / Math.max(1, count));
}
