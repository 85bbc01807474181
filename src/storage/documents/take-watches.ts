import type { Condition, DocumentStore } from '../ports/document-store.ts';
import { MAX_LEASED_OF_HOST, type TakeDue, type TakenWatch, WATCH_LEASE_MS } from '../ports/watch-store.ts';
import { changeOwn } from './lease.ts';
import { documentOf, freed, storedOf, type WatchDocument, watchIn } from './watch-document.ts';
import { addRun } from './watch-runs.ts';

/* Leases watches whose runs are due: at most `MAX_LEASED_OF_HOST` of a host, whose keys take turns. */

/** A lease that lasts longer than this was given by another clock. */
export const MAX_LEASE_MS = 2 * WATCH_LEASE_MS;

/** A due watch, and who would lease it. */
interface Candidate {
  readonly document: WatchDocument;
  readonly owner: string;
}

/** Leases watches, those that have been due longest first: at most one for each owner. */
export async function takeDue(
  documents: DocumentStore,
  owners: readonly string[],
  due: TakeDue,
): Promise<readonly TakenWatch[]> {
  const { now, exceptHosts, exceptKeys } = due;
  const taken: TakenWatch[] = [];
  const busyHosts = [...exceptHosts];
  for (;;) {
    const free = owners.filter((owner) => !taken.some((watch) => watch.owner === owner));
    if (free.length === 0) return taken;
    const isFree: readonly Condition<'watches'>[] = [
      ['freeAt', '<=', now],
      ['host', 'not in', busyHosts],
      ['apiKey', 'not in', exceptKeys],
    ];
    const found = await documents.list('watches', isFree, { by: 'freeAt', limit: free.length });
    if (found.length === 0) return taken;
    const ofHosts = Map.groupBy(
      found.map((document, at): Candidate => ({ document, owner: free[at] ?? '' })),
      ({ document }) => document.host,
    );
    const takes = [...ofHosts].map(([host, candidates]) => takeOf(documents, host, candidates, due));
    for (const each of await Promise.all(takes)) {
      taken.push(...each.taken);
      if (each.isBusy) busyHosts.push(each.host);
    }
  }
}

/** Leases due watches of one host, up to its limit. Keys that wait for the host take turns. */
async function takeOf(documents: DocumentStore, host: string, candidates: readonly Candidate[], due: TakeDue) {
  const { now } = due;
  const held = await leasedOf(documents, host, now);
  const tried = candidates.slice(0, Math.max(0, MAX_LEASED_OF_HOST - held.length));
  const [holder] = held;
  const [first] = tried;
  if (holder !== undefined && first !== undefined) {
    tried[0] = { ...first, document: (await ofNextKey(documents, host, holder.apiKey, due)) ?? first.document };
  }
  const leased = await Promise.all(tried.map((candidate) => takeOne(documents, candidate, now)));
  const own = leased.filter((watch) => watch !== undefined);
  // Others may have taken watches of this host at the same time. Each counts after its own take, so the last one sees
  // all, and gives some back.
  const tooMany = own.length === 0 ? 0 : (await leasedOf(documents, host, now)).length - MAX_LEASED_OF_HOST;
  const taken = own.slice(0, Math.max(0, own.length - Math.max(0, tooMany)));
  for (const { document, owner } of own.slice(taken.length)) {
    await changeOwn(documents, 'watches', document.id, owner, (found) => freed(watchIn(found)));
  }
  // The process that stored the run may have died before it became part of the history.
  for (const { watch } of taken) if (watch.run !== undefined) await addRun(documents, watch.id, watch.run);
  const isBusy = tried.length < candidates.length || taken.length < own.length;
  return { host, taken: taken.map(({ watch }) => watch), isBusy };
}

/** Leases a watch; undefined when another process has taken or removed it meanwhile, or no run is due. */
async function takeOne(documents: DocumentStore, { document, owner }: Candidate, now: number) {
  const watch = watchIn(document);
  const { run } = watch;
  if (watch.droppedHost !== undefined) {
    // The dropped run's process died. The new definition may name another host, by which due watches are found,
    // so the watch is stored again first.
    await documents.replace('watches', freed(watch), document.revision);
    return undefined;
  }
  const leased = documentOf(watch, { owner, freeAt: now + WATCH_LEASE_MS });
  if (!(await documents.replace('watches', leased, document.revision))) return undefined;
  const definition = await documents.data('watches', document.id);
  if (definition === undefined) return undefined;
  const dueAt = run?.wasDueAt ?? watch.dueAt ?? now;
  const taken: TakenWatch = { ...storedOf(watch), definition: Buffer.from(definition).toString(), owner, dueAt, run };
  return { document, owner, watch: taken };
}

function leasedOf(documents: DocumentStore, host: string, now: number): Promise<readonly WatchDocument[]> {
  const leased: readonly Condition<'watches'>[] = [
    ['host', '=', host],
    ['owner', '>', ''],
    ['freeAt', '>', now],
    // A later end is from before the clock was set back: `hasten` ends such leases.
    ['freeAt', '<=', now + MAX_LEASE_MS],
  ];
  return documents.list('watches', leased, { isBrief: true });
}

/** Finds a due watch of the key whose turn it is: the one after the key that has the other run of this host. */
async function ofNextKey(documents: DocumentStore, host: string, holder: string, { now, exceptKeys }: TakeDue) {
  const due = [
    ['host', '=', host],
    ['freeAt', '<=', now],
  ] as const;
  const others = [...due, ['apiKey', 'not in', [holder, ...exceptKeys]]] as const;
  const first = { by: 'apiKey', limit: 1, isBrief: true } as const;
  const [next] = await documents.list('watches', [...others, ['apiKey', '>', holder]], first);
  const [key = next] = next === undefined ? await documents.list('watches', others, first) : [];
  if (key === undefined) return undefined;
  const ofKey = [...due, ['apiKey', '=', key.apiKey]] as const;
  return (await documents.list('watches', ofKey, { by: 'freeAt', limit: 1 }))[0];
}
