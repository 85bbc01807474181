import { MAX_WATCHES } from '../../capture/watch.ts';
import {
  type Condition,
  change,
  type Document,
  type DocumentStore,
  find,
  type StoredDocument,
} from '../ports/document-store.ts';
import {
  type NewWatch,
  type StoredRun,
  type StoredWatch,
  WATCH_LEASE_MS,
  type WatchStore,
} from '../ports/watch-store.ts';

/*
 * A watch belongs to its API key; its kind is its host. It is due at the time of its next run and, while it is leased,
 * when its lease ends. `at` is the earliest time at which the next run is not too far away (see `hasten`).
 */

interface Watch extends Omit<NewWatch, 'isShared'> {
  readonly owner: string | null;
}

/** Number of watches that are changed between two reads of the clock. */
const HASTENED_TOGETHER = 500;

export function watchesIn(documents: DocumentStore): WatchStore {
  /** Changes the watch that this owner has leased; undefined when it has not. */
  async function changeOwn(id: number, owner: string, next: (watch: Watch) => Document): Promise<boolean> {
    const changed = await change(documents, 'watches', idOf(id), (found) => {
      const watch = found && watchIn(found);
      return watch?.owner === owner ? next(watch) : undefined;
    });
    return changed !== undefined;
  }

  async function removeLabels(labels: readonly Document[]): Promise<void> {
    await documents.remove('watch_labels', [['id', 'in', labels.map(({ id }) => id)]]);
  }

  async function runs(id: number, where: readonly Condition[], order: { limit?: number; skip?: number } = {}) {
    const of: Condition = ['of', '=', idOf(id)];
    const found = await documents.list('watch_runs', [of, ...where], { by: 'at', isDescending: true, ...order });
    return found.map(({ at, body }): StoredRun => ({ dueAt: at, body }));
  }

  return {
    add: async ({ isShared, ...watch }, max = MAX_WATCHES) => {
      const room = { max, where: [], isShared, isExact: true, code: 'too_many_watches', text: 'watches' } as const;
      // Labels are added first and removed last: a killed process can leave a label without a watch, but not the reverse.
      await documents.add('watch_labels', labelsOf(watch));
      try {
        await documents.addWithin('watches', documentOf({ ...watch, owner: null }), room);
      } catch (error) {
        await removeLabels(labelsOf(watch));
        throw error;
      }
    },
    get: async (id) => {
      const found = await find(documents, 'watches', idOf(id));
      return found && storedIn(found);
    },
    list: async ({ ofKey, label, after, limit }) => {
      const key: readonly Condition[] = ofKey === undefined ? [] : [['of', '=', ofKey]];
      if (label === undefined) {
        return (await documents.list('watches', [...key, ['id', '>', idOf(after)]], { limit })).map(storedIn);
      }
      const labelled = await documents.list(
        'watch_labels',
        [['of', '=', label], ['at', '>', after], ...(ofKey === undefined ? [] : [['kind', '=', ofKey] as const])],
        { by: 'at', limit },
      );
      const found = await documents.list('watches', [['id', 'in', labelled.map(({ at }) => idOf(at))]]);
      return found.filter((watch) => watchIn(watch).labels.includes(label)).map(storedIn);
    },
    change: async (id, changed) => {
      const found = await find(documents, 'watches', idOf(id));
      if (found === undefined) return false;
      const [old, labels] = [labelsOf(watchIn(found)), labelsOf({ ...watchIn(found), ...changed })];
      await documents.add('watch_labels', labels);
      const after = await change(
        documents,
        'watches',
        idOf(id),
        (found) => found && documentOf({ ...watchIn(found), ...changed, owner: null }),
      );
      // Another change may have come in between, so the labels of the stored watch are kept.
      const now = await find(documents, 'watches', idOf(id));
      const kept = new Set(now === undefined ? [] : watchIn(now).labels);
      await removeLabels([...old, ...labels].filter((label) => !kept.has(label.of)));
      return after !== undefined;
    },
    remove: async (id) => {
      const found = await find(documents, 'watches', idOf(id));
      const removed = await documents.remove('watches', [['id', '=', idOf(id)]]);
      const kept = await runs(id, []);
      await documents.remove('watch_runs', [['of', '=', idOf(id)]]);
      if (found !== undefined) await removeLabels(labelsOf(watchIn(found)));
      return removed > 0 ? kept : undefined;
    },
    take: async (owner, { now, exceptHosts, exceptKeys }) => {
      const isFree: readonly Condition[] = [
        ['due', '<=', now],
        ['kind', 'not in', exceptHosts],
        ['of', 'not in', exceptKeys],
      ];
      for (;;) {
        const [found] = await documents.list('watches', isFree, { by: 'due', limit: 1 });
        if (found === undefined) return undefined;
        const leased = documentOf({ ...watchIn(found), owner }, now + WATCH_LEASE_MS);
        // Another process may have taken it meanwhile.
        if (!(await documents.replace('watches', leased, found.revision))) continue;
        const { dueAt, ...watch } = storedIn(found);
        if (dueAt === null) continue;
        return { ...watch, dueAt, run: (await find(documents, 'watch_runs', runIdOf(watch.id, dueAt)))?.body };
      }
    },
    renew: (id, owner, now) => changeOwn(id, owner, (watch) => documentOf(watch, now + WATCH_LEASE_MS)),
    put: async (id, owner, { dueAt, body }) => {
      const found = await find(documents, 'watches', idOf(id));
      if (found === undefined || watchIn(found).owner !== owner) return false;
      const run = { id: runIdOf(id, dueAt), of: idOf(id), kind: '', at: dueAt, due: null, body };
      await documents.add('watch_runs', [run]);
      return true;
    },
    finish: async (id, owner, { dueAt, progress, keep }) => {
      const isOwn = await changeOwn(id, owner, (watch) => documentOf({ ...watch, dueAt, progress, owner: null }));
      if (!isOwn) return undefined;
      const old = await runs(id, [], { skip: keep });
      const [newest] = old;
      const ofOld: readonly Condition[] = [
        ['of', '=', idOf(id)],
        ['at', '<=', newest?.dueAt ?? 0],
      ];
      if (newest !== undefined) await documents.remove('watch_runs', ofOld);
      return old;
    },
    release: async (id, owner, at) => {
      await changeOwn(id, owner, (watch) => documentOf({ ...watch, dueAt: at, owner: null }));
    },
    runs: (id, limit, before) => runs(id, [['at', '<', before]], { limit }),
    hasten: async (now) => {
      for (;;) {
        const late = await documents.list('watches', [['at', '>', now]], { limit: HASTENED_TOGETHER });
        for (const { id } of late) {
          await change(documents, 'watches', id, (found) => {
            const watch = found && watchIn(found);
            if (found === undefined || watch === undefined || found.at <= now) return undefined;
            return documentOf({ ...watch, dueAt: now + (watch.everyMs ?? 0) });
          });
        }
        if (late.length < HASTENED_TOGETHER) return;
      }
    },
  };
}

/** Sorts as the number does. */
function idOf(id: number): string {
  return String(id).padStart(16, '0');
}

function runIdOf(id: number, dueAt: number): string {
  return `${idOf(id)}/${dueAt}`;
}

function watchIn({ body }: StoredDocument): Watch {
  const watch: Watch = JSON.parse(body);
  return watch;
}

function storedIn(document: StoredDocument): StoredWatch {
  const { owner: _owner, labels: _labels, ...watch } = watchIn(document);
  return watch;
}

/** Returns the labels by which a watch is listed. */
function labelsOf({ id, apiKeyName, labels }: Pick<Watch, 'id' | 'apiKeyName' | 'labels'>): readonly Document[] {
  const each = { kind: apiKeyName, at: id, due: null, body: '' };
  return labels.map((label) => ({ id: `${idOf(id)}/${label}`, of: label, ...each }));
}

/** `leasedUntil`: end of the lease. */
function documentOf(watch: Watch, leasedUntil?: number): Document {
  const { id, apiKeyName, host, everyMs, dueAt } = watch;
  const isRegular = leasedUntil === undefined && everyMs !== null && dueAt !== null;
  return {
    id: idOf(id),
    of: apiKeyName,
    kind: host,
    at: isRegular ? dueAt - 2 * everyMs : 0,
    due: leasedUntil ?? dueAt,
    body: JSON.stringify(watch),
  };
}
