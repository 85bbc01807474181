import type { Document, StoredDocument } from '../ports/document-store.ts';
import type { NewWatch, StoredRun, StoredWatch } from '../ports/watch-store.ts';
import { labelsField } from './find-and-change.ts';

/*
 * The document of a watch. `data`: its definition. Its runs are documents of their own, whose bytes count with it.
 */

export type WatchDocument = StoredDocument<'watches'>;

export interface Watch extends Omit<NewWatch, 'keysShare' | 'definition'> {
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

/** The lease of a watch. */
type WatchLease = Pick<WatchDocument, 'owner' | 'freeAt'>;

/** Sorts as the number does. */
export function idOf(id: number): string {
  return String(id).padStart(16, '0');
}

export function watchIn({ body }: WatchDocument): Watch {
  const watch: Watch = JSON.parse(body);
  return watch;
}

export function storedIn(document: WatchDocument): StoredWatch {
  return storedOf(watchIn(document));
}

export function storedOf({ id, apiKeyName, host, everyMs, dueAt, summary, progress }: Watch): StoredWatch {
  return { id, apiKeyName, host, everyMs, dueAt, summary, progress };
}

/** Returns the document of a watch without a lease, or with this one. */
export function documentOf(watch: Watch, lease?: WatchLease): Document<'watches'> {
  const { id, apiKeyName, everyMs, dueAt, plannedAt = dueAt, run, droppedHost: host = watch.host } = watch;
  const isRegular = everyMs !== null && dueAt !== null;
  // Two intervals before the next run, or the time at which a longer wait was decided.
  const plausibleFrom = isRegular ? Math.min(dueAt - 2 * everyMs, plannedAt ?? dueAt) : 0;
  return {
    id: idOf(id),
    owner: lease?.owner ?? '',
    freeAt: lease === undefined ? (run?.wasDueAt ?? dueAt) : lease.freeAt,
    apiKey: apiKeyName,
    host,
    labels: labelsField(watch.labels),
    plausibleFrom: lease === undefined ? plausibleFrom : null,
    body: JSON.stringify(watch),
    besides: watch.runsBytes,
  };
}

/** Returns the document of a watch whose lease ends. */
export function freed(watch: Watch): Document<'watches'> {
  return documentOf({ ...watch, droppedHost: undefined });
}
