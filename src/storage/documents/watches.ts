import { randomUUID } from 'node:crypto';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import {
  amountOf,
  type Condition,
  change,
  checkRoom,
  type Document,
  type DocumentStore,
  find,
  pageOf,
  type Room,
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
import { addLabels, bytesOfLabels, type Labelled, labelledAfter, removeLabels } from './watch-labels.ts';

/*
 * Document of a watch. `of`: its API key. `kind`: its host; while a dropped run is under way, the host of that run.
 * `due`: the time of its next run; while it is leased, the end of its lease. `at`: `LEASED`, or the earliest time at
 * which `hasten` accepts the next run: two intervals before it, or the time at which a longer wait was decided. `data`:
 * the definition. Its labels and runs are documents of their own, whose bytes count with it.
 */

interface Watch extends Omit<NewWatch, 'isShared' | 'definition'>, Labelled {
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
  /** Bytes of its runs when the last one ended. */
  readonly runsBytes: number;
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

const NEWEST_FIRST = { by: 'at', isDescending: true } as const;
const ROOM = {
  where: [],
  isExact: true,
  code: 'too_many_watches',
  text: 'watches',
} satisfies Partial<Room>;

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

  async function runs(id: number, where: readonly Condition[] = []): Promise<readonly StoredRun[]> {
    const found = await documents.list('watch_runs', [ofWatch(id), ...where], NEWEST_FIRST);
    return found.map(runIn);
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
        const definition = await documents.data('watches', document.id);
        // It was removed meanwhile.
        if (definition === undefined) return undefined;
        const dueAt = run?.wasDueAt ?? watch.dueAt ?? now;
        return { ...storedOf(watch), definition: textOf(definition), owner, dueAt, run };
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
    add: async ({ isShared, definition, ...given }, max = STORED_LIMITS.watches) => {
      const watch: Watch = { ...given, owner: null, labelling: randomUUID(), runsBytes: 0 };
      await addLabels(documents, watch);
      try {
        const data = Buffer.from(definition);
        await documents.addWithin('watches', { ...documentOf(watch), data }, { ...ROOM, max, isShared });
      } catch (error) {
        await removeLabels(documents, watch);
        throw error;
      }
    },
    get: async (id, ofKey) => {
      const found = await find(documents, 'watches', idOf(id), ofKey);
      return found && storedIn(found);
    },
    definition: async (id) => {
      const data = await documents.data('watches', idOf(id));
      return data && textOf(data);
    },
    list: async ({ ofKey, label, after, limit }) => {
      if (label === undefined) {
        const key: readonly Condition[] = ofKey === undefined ? [] : [['of', '=', ofKey]];
        const { items, isCut } = await pageOf(documents, 'watches', [...key, ['id', '>', idOf(after)]], { limit });
        return { items: items.map(storedIn), isCut };
      }
      // Labels can outlive their watches, so a page of them may lead to fewer, or to none.
      for (let last = after; ; ) {
        const ids = await labelledAfter(documents, { label, ofKey, after: last, limit: limit + 1 });
        const page = await pageOf(documents, 'watches', [['id', 'in', ids.map(idOf)]], { limit });
        const items = page.items.map(watchIn).filter(({ labels }) => labels.includes(label));
        const isCut = page.isCut || ids.length > limit;
        if (items.length > 0 || !isCut) return { items: items.map(storedOf), isCut };
        const [lastRead] = page.isCut ? page.items.slice(-1) : [];
        last = lastRead === undefined ? (ids.at(-1) ?? last) : watchIn(lastRead).id;
      }
    },
    change: async (id, next, max = STORED_LIMITS.watches) => {
      for (;;) {
        const found = await find(documents, 'watches', idOf(id));
        if (found === undefined) return undefined;
        const old = watchIn(found);
        const { isShared, definition, ...wanted } = await next(storedOf(old));
        const isRelabelled = JSON.stringify(wanted.labels) !== JSON.stringify(old.labels);
        const labelling = isRelabelled ? randomUUID() : old.labelling;
        const plannedAt = wanted.dueAt === old.dueAt ? old.plannedAt : undefined;
        // The owner of a stored run announces it; another run is dropped when it ends.
        const isDropped = old.owner !== null && old.run === undefined;
        const droppedHost = isDropped ? (old.droppedHost ?? old.host) : undefined;
        const changed: Watch = { ...old, ...wanted, labelling, plannedAt, droppedHost };
        const document = documentOf(changed, old.owner === null ? undefined : (found.due ?? undefined));
        const data = definition === undefined ? undefined : Buffer.from(definition);
        const growth = data === undefined ? 0 : amountOf({ ...document, data }).bytes - found.bytes;
        if (growth > 0) {
          const usage = await documents.usage('watches', [], old.apiKeyName);
          checkRoom({ ...ROOM, max, isShared }, usage, { count: 0, bytes: growth });
        }
        if (isRelabelled) await addLabels(documents, changed);
        const isChanged = await documents.replace('watches', { ...document, data }, found.revision);
        if (isRelabelled) await removeLabels(documents, isChanged ? old : changed);
        if (isChanged) return storedOf(changed);
      }
    },
    remove: async (id) => {
      const found = await find(documents, 'watches', idOf(id));
      const removed = await documents.remove('watches', [['id', '=', idOf(id)]]);
      const kept = await runs(id);
      await documents.remove('watch_runs', [ofWatch(id)]);
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
      const all = await documents.list('watch_runs', [ofWatch(id)], { ...NEWEST_FIRST, isBrief: true });
      let removed: StoredDocument | undefined;
      const isOwn = await changeOwn(id, owner, (watch) => {
        const { keep, ...after } = next(storedOf(watch));
        const kept = newestRuns(all, keep);
        removed = all[kept.count];
        return documentOf({ ...freed(watch), ...after, run: undefined, runsBytes: kept.bytes });
      });
      if (!isOwn) {
        // It may have been removed just before the run was added.
        const isRemoved = (await find(documents, 'watches', idOf(id))) === undefined;
        if (isRemoved) await documents.remove('watch_runs', [ofWatch(id)]);
        return undefined;
      }
      if (removed === undefined) return [];
      const isOld: Condition = ['at', '<=', removed.at];
      const old = await runs(id, [isOld]);
      await documents.remove('watch_runs', [ofWatch(id), isOld]);
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
    runs: async (id, limit, before) => {
      const where: readonly Condition[] = [ofWatch(id), ['at', '<', before]];
      const { items, isCut } = await pageOf(documents, 'watch_runs', where, { ...NEWEST_FIRST, limit });
      return { items: items.map(runIn), isCut };
    },
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

function storedOf({ id, apiKeyName, host, everyMs, dueAt, summary, progress }: Watch): StoredWatch {
  return { id, apiKeyName, host, everyMs, dueAt, summary, progress };
}

function ofWatch(id: number): Condition {
  return ['of', '=', idOf(id)];
}

function runIn({ at, body }: StoredDocument): StoredRun {
  return { dueAt: at, body };
}

function textOf(data: Uint8Array): string {
  return Buffer.from(data).toString();
}

/** Returns the number and the bytes of the runs to keep: at most `keep`. `runs`: newest first. */
function newestRuns(runs: readonly StoredDocument[], keep: number) {
  const kept = { count: 0, bytes: 0 };
  for (const { bytes } of runs.slice(0, keep)) {
    if (kept.count > 0 && kept.bytes + bytes > STORED_LIMITS.watchRuns.bytes) break;
    kept.count += 1;
    kept.bytes += bytes;
  }
  return kept;
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
    besides: bytesOfLabels(watch) + watch.runsBytes,
  };
}
