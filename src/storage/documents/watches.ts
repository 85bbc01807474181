import { randomUUID } from 'node:crypto';
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
  MAX_LEASED_OF_HOST,
  type NewWatch,
  type StoredRun,
  type StoredWatch,
  type TakeDue,
  type TakenWatch,
  WATCH_LEASE_MS,
  type WatchStore,
} from '../ports/watch-store.ts';
import { addLabels, type Labelled, labelledAfter, removeLabels } from './watch-labels.ts';

/*
 * Document of a watch. `of`: its API key. `kind`: its host; while a dropped run is under way, the host of that run.
 * `due`: the time of its next run; while it is leased, the end of its lease. `at`: `LEASED`, or the earliest time at
 * which `hasten` accepts the next run: two intervals before it, or the time at which a longer wait was decided.
 */

interface Watch extends Omit<NewWatch, 'isShared'>, Labelled {
  readonly owner: string | null;
  /**
   * Host of a dropped run: the watch was changed while the run was under way. Its page still counts for this host, so
   * the lease lasts until the run ends.
   */
  readonly droppedHost?: string | undefined;
  /** When `dueAt` was decided, if that was after a run. */
  readonly plannedAt?: number | undefined;
  /** A stored run that is to be announced, and when the watch was due for it. */
  readonly run?: (StoredRun & { readonly wasDueAt: number | null }) | undefined;
}

/** A due watch, and who would lease it. */
interface Candidate {
  readonly document: StoredDocument;
  readonly owner: string;
}

/** Less than any time. */
const LEASED = -1;
/** Number of watches that are changed between two reads of the clock. */
const HASTENED_TOGETHER = 500;
/** A lease that lasts longer than this was given by another clock. */
const MAX_LEASE_MS = 2 * WATCH_LEASE_MS;

export function watchesIn(documents: DocumentStore): WatchStore {
  /** Changes the watch that this owner has leased; false when it has not. */
  async function changeOwn(
    id: number,
    owner: string,
    next: (watch: Watch, leasedUntil: number) => Document,
  ): Promise<boolean> {
    const changed = await change(documents, 'watches', idOf(id), (found) => {
      const watch = found && watchIn(found);
      return watch?.owner === owner ? next(watch, found?.due ?? 0) : undefined;
    });
    return changed !== undefined;
  }

  async function runs(id: number, where: readonly Condition[], order: { limit?: number; skip?: number } = {}) {
    const of: Condition = ['of', '=', idOf(id)];
    const found = await documents.list('watch_runs', [of, ...where], { by: 'at', isDescending: true, ...order });
    return found.map(({ at, body }): StoredRun => ({ dueAt: at, body }));
  }

  function leasedOf(host: string, now: number): Promise<readonly StoredDocument[]> {
    const leased: readonly Condition[] = [
      ['kind', '=', host],
      ['at', '=', LEASED],
      ['due', '>', now],
      // A later end is from before the clock was set back: `hasten` ends such leases.
      ['due', '<=', now + MAX_LEASE_MS],
    ];
    return documents.list('watches', leased, { isBrief: true });
  }

  /** Finds a due watch of the key whose turn it is: the one after the key that has the other run of this host. */
  async function ofNextKey(host: string, holder: string, { now, exceptKeys }: TakeDue) {
    const due: readonly Condition[] = [
      ['kind', '=', host],
      ['due', '<=', now],
    ];
    const others: readonly Condition[] = [...due, ['of', 'not in', [holder, ...exceptKeys]]];
    const first = { by: 'of', limit: 1, isBrief: true } as const;
    const [next] = await documents.list('watches', [...others, ['of', '>', holder]], first);
    const [key = next] = next === undefined ? await documents.list('watches', others, first) : [];
    return key && (await documents.list('watches', [...due, ['of', '=', key.of]], { by: 'due', limit: 1 }))[0];
  }

  async function addRun(id: number, { dueAt, body }: StoredRun): Promise<void> {
    const run = { id: `${idOf(id)}/${dueAt}`, of: idOf(id), kind: '', at: dueAt, due: null, body };
    await documents.add('watch_runs', [run]);
  }

  /** Leases due watches of one host, up to its limit. Keys that wait for the host take turns. */
  async function takeOf(host: string, candidates: readonly Candidate[], due: TakeDue) {
    const { now } = due;
    const held = await leasedOf(host, now);
    const tried = candidates.slice(0, Math.max(0, MAX_LEASED_OF_HOST - held.length));
    const [holder] = held;
    const [first] = tried;
    if (holder !== undefined && first !== undefined) {
      tried[0] = { ...first, document: (await ofNextKey(host, holder.of, due)) ?? first.document };
    }
    const leased = await Promise.all(
      tried.map(async ({ document, owner }): Promise<TakenWatch | undefined> => {
        const watch = watchIn(document);
        const { run } = watch;
        if (watch.droppedHost !== undefined) {
          // The dropped run's process died. The new definition may name another host, by which due watches are found,
          // so the watch is stored again first.
          await documents.replace('watches', documentOf(freed(watch)), document.revision);
          return undefined;
        }
        const lease = documentOf({ ...watch, owner }, now + WATCH_LEASE_MS);
        // Another process may have taken it meanwhile.
        if (!(await documents.replace('watches', lease, document.revision))) return undefined;
        return { ...storedOf(watch), owner, dueAt: run?.wasDueAt ?? watch.dueAt ?? now, run };
      }),
    );
    const own = leased.filter((watch) => watch !== undefined);
    // Others may have taken watches of this host at the same time. Each counts after its own take, so the last one sees
    // all, and gives some back.
    const tooMany = own.length === 0 ? 0 : (await leasedOf(host, now)).length - MAX_LEASED_OF_HOST;
    const taken = own.slice(0, Math.max(0, own.length - Math.max(0, tooMany)));
    for (const { id, owner } of own.slice(taken.length)) {
      await changeOwn(id, owner, (watch) => documentOf(freed(watch)));
    }
    // The process that stored the run may have died before it became part of the history.
    for (const { id, run } of taken) if (run !== undefined) await addRun(id, run);
    return { host, taken, isBusy: tried.length < candidates.length || taken.length < own.length };
  }

  return {
    add: async ({ isShared, ...given }, max = MAX_WATCHES) => {
      const room = { max, where: [], isShared, isExact: true, code: 'too_many_watches', text: 'watches' } as const;
      const watch: Watch = { ...given, owner: null, labelling: randomUUID() };
      await addLabels(documents, watch);
      try {
        await documents.addWithin('watches', documentOf(watch), room);
      } catch (error) {
        await removeLabels(documents, watch);
        throw error;
      }
    },
    get: async (id) => {
      const found = await find(documents, 'watches', idOf(id));
      return found && storedIn(found);
    },
    list: async ({ ofKey, label, after, limit }) => {
      if (label === undefined) {
        const key: readonly Condition[] = ofKey === undefined ? [] : [['of', '=', ofKey]];
        return (await documents.list('watches', [...key, ['id', '>', idOf(after)]], { limit })).map(storedIn);
      }
      const listed: StoredWatch[] = [];
      // Labels can outlive their watches, so a page of them may lead to fewer.
      for (let last = after; listed.length < limit; ) {
        const ids = await labelledAfter(documents, { label, ofKey, after: last, limit });
        const found = await documents.list('watches', [['id', 'in', ids.map(idOf)]]);
        listed.push(...found.filter((watch) => watchIn(watch).labels.includes(label)).map(storedIn));
        if (ids.length < limit) break;
        last = ids.at(-1) ?? last;
      }
      return listed.slice(0, limit);
    },
    change: async (id, next) => {
      for (;;) {
        const found = await find(documents, 'watches', idOf(id));
        if (found === undefined) return undefined;
        const old = watchIn(found);
        const wanted = next(storedOf(old));
        const isRelabelled = JSON.stringify(wanted.labels) !== JSON.stringify(old.labels);
        const labelling = isRelabelled ? randomUUID() : old.labelling;
        const plannedAt = wanted.dueAt === old.dueAt ? old.plannedAt : undefined;
        // The owner of a stored run announces it; another run is dropped when it ends.
        const isDropped = old.owner !== null && old.run === undefined;
        const droppedHost = isDropped ? (old.droppedHost ?? old.host) : undefined;
        const changed: Watch = { ...old, ...wanted, labelling, plannedAt, droppedHost };
        const document = documentOf(changed, old.owner === null ? undefined : (found.due ?? undefined));
        if (isRelabelled) await addLabels(documents, changed);
        const isChanged = await documents.replace('watches', document, found.revision);
        if (isRelabelled) await removeLabels(documents, isChanged ? old : changed);
        if (isChanged) return storedOf(changed);
      }
    },
    remove: async (id) => {
      const found = await find(documents, 'watches', idOf(id));
      const removed = await documents.remove('watches', [['id', '=', idOf(id)]]);
      const kept = await runs(id, []);
      await documents.remove('watch_runs', [['of', '=', idOf(id)]]);
      if (found !== undefined) await removeLabels(documents, watchIn(found));
      return removed > 0 ? kept : undefined;
    },
    take: async (owners, due) => {
      const { now, exceptHosts, exceptKeys } = due;
      const taken: TakenWatch[] = [];
      const busyHosts = [...exceptHosts];
      for (;;) {
        const free = owners.filter((owner) => !taken.some((watch) => watch.owner === owner));
        if (free.length === 0) return taken;
        const isFree: readonly Condition[] = [
          ['due', '<=', now],
          ['kind', 'not in', busyHosts],
          ['of', 'not in', exceptKeys],
        ];
        const found = await documents.list('watches', isFree, { by: 'due', limit: free.length });
        if (found.length === 0) return taken;
        const ofHosts = Map.groupBy(
          found.map((document, at): Candidate => ({ document, owner: free[at] ?? '' })),
          ({ document }) => document.kind,
        );
        for (const each of await Promise.all([...ofHosts].map(([host, candidates]) => takeOf(host, candidates, due)))) {
          taken.push(...each.taken);
          if (each.isBusy) busyHosts.push(each.host);
        }
      }
    },
    renew: (id, owner, now) => changeOwn(id, owner, (watch) => documentOf(watch, now + WATCH_LEASE_MS)),
    put: async (id, owner, run) => {
      let isWanted = false;
      const isOwn = await changeOwn(id, owner, (watch, leasedUntil) => {
        isWanted = watch.droppedHost === undefined;
        if (!isWanted) return documentOf(freed(watch));
        return documentOf({ ...watch, run: { ...run, wasDueAt: watch.dueAt } }, leasedUntil);
      });
      if (isOwn && isWanted) await addRun(id, run);
      return isOwn && isWanted;
    },
    finish: async (id, owner, next) => {
      let keep = 0;
      const isOwn = await changeOwn(id, owner, (watch) => {
        const { keep: wanted, ...after } = next(storedOf(watch));
        keep = wanted;
        return documentOf({ ...freed(watch), ...after, run: undefined });
      });
      const ofWatch: Condition = ['of', '=', idOf(id)];
      if (!isOwn) {
        // It may have been removed just before the run was added.
        const isRemoved = (await find(documents, 'watches', idOf(id))) === undefined;
        if (isRemoved) await documents.remove('watch_runs', [ofWatch]);
        return undefined;
      }
      const old = await runs(id, [], { skip: keep });
      const [newest] = old;
      if (newest !== undefined) await documents.remove('watch_runs', [ofWatch, ['at', '<=', newest.dueAt]]);
      return old;
    },
    release: async (id, owner, at) => {
      await changeOwn(id, owner, (watch) =>
        // A change has decided when a watch is due whose run it dropped.
        documentOf(
          watch.droppedHost === undefined ? { ...freed(watch), dueAt: at, plannedAt: undefined } : freed(watch),
        ),
      );
    },
    runs: (id, limit, before) => runs(id, [['at', '<', before]], { limit }),
    hasten: async (now, next) => {
      for (;;) {
        const late = await documents.list('watches', [['at', '>', now]], { by: 'at', limit: HASTENED_TOGETHER });
        for (const { id } of late) {
          await change(documents, 'watches', id, (found) => {
            const watch = found && watchIn(found);
            if (found === undefined || watch === undefined || found.at <= now) return undefined;
            return documentOf({ ...watch, dueAt: next(watch.id, watch.everyMs ?? 0), plannedAt: undefined });
          });
        }
        if (late.length < HASTENED_TOGETHER) break;
      }
      const endless = await documents.list('watches', [
        ['at', '=', LEASED],
        ['due', '>', now + MAX_LEASE_MS],
      ]);
      for (const found of endless) {
        await documents.replace('watches', documentOf(freed(watchIn(found))), found.revision);
      }
    },
  };
}

/** Sorts as the number does. */
function idOf(id: number): string {
  return String(id).padStart(16, '0');
}

function watchIn({ body }: StoredDocument): Watch {
  const watch: Watch = JSON.parse(body);
  return watch;
}

function storedIn(document: StoredDocument): StoredWatch {
  return storedOf(watchIn(document));
}

function storedOf({ id, apiKeyName, host, everyMs, dueAt, definition, progress }: Watch): StoredWatch {
  return { id, apiKeyName, host, everyMs, dueAt, definition, progress };
}

/** Returns the watch without its lease. */
function freed(watch: Watch): Watch {
  return { ...watch, owner: null, droppedHost: undefined };
}

/** `leasedUntil`: end of the lease. */
function documentOf(watch: Watch, leasedUntil?: number): Document {
  const { id, apiKeyName, everyMs, dueAt, plannedAt = dueAt, run, droppedHost: host = watch.host } = watch;
  const isRegular = everyMs !== null && dueAt !== null;
  const soonEnough = isRegular ? Math.min(dueAt - 2 * everyMs, plannedAt ?? dueAt) : 0;
  return {
    id: idOf(id),
    of: apiKeyName,
    kind: host,
    at: leasedUntil === undefined ? soonEnough : LEASED,
    due: leasedUntil ?? run?.wasDueAt ?? dueAt,
    body: JSON.stringify(watch),
  };
}
