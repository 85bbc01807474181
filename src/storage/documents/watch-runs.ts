import type { Amount } from '../../capture/stored-limits.ts';
import type { Condition, DocumentStore, Page, StoredDocument } from '../ports/document-store.ts';
import type { StoredRun } from '../ports/watch-store.ts';
import { pageOf } from './find-and-change.ts';
import { oldestBeyond } from './make-room.ts';

/* The runs of watches. */

type RunDocument = StoredDocument<'watch_runs'>;

const NEWEST_FIRST = { by: 'dueAt', isDescending: true } as const;

export async function addRun(documents: DocumentStore, watch: number, { dueAt, body }: StoredRun): Promise<void> {
  await documents.add('watch_runs', [{ id: `${watch}/${dueAt}`, watch, dueAt, body }]);
}

/** Returns at most `limit` runs that were due before a time, newest first; fewer when they are large. */
export async function runsBefore(
  documents: DocumentStore,
  watch: number,
  before: number,
  limit: number,
): Promise<Page<StoredRun>> {
  const where = [ofWatch(watch), ['dueAt', '<', before]] as const;
  const { items, isCut } = await pageOf(documents, 'watch_runs', where, { ...NEWEST_FIRST, limit });
  return { items: items.map(runIn), isCut };
}

/** Returns the runs of a watch without their content, oldest first. */
export function briefRuns(documents: DocumentStore, watch: number): Promise<readonly RunDocument[]> {
  return documents.list('watch_runs', [ofWatch(watch)], { by: 'dueAt', isBrief: true });
}

/** Returns the last run to remove, if any, so that the others are within `max`, and their bytes. */
export function overdue(oldestFirst: readonly RunDocument[], max: Amount) {
  const used = { count: oldestFirst.length, bytes: sizeOf(oldestFirst) };
  const removed = oldestBeyond(oldestFirst, used, max);
  return { last: removed.at(-1), keptBytes: used.bytes - sizeOf(removed) };
}

/** Removes the runs of a watch, those up to a time or all, and returns them, newest first. */
export async function removeRuns(
  documents: DocumentStore,
  watch: number,
  upTo?: number,
): Promise<readonly StoredRun[]> {
  const isOld: readonly Condition<'watch_runs'>[] = upTo === undefined ? [] : [['dueAt', '<=', upTo]];
  const removed = await documents.list('watch_runs', [ofWatch(watch), ...isOld], NEWEST_FIRST);
  await documents.remove('watch_runs', [ofWatch(watch), ...isOld]);
  return removed.map(runIn);
}

function ofWatch(watch: number): readonly ['watch', '=', number] {
  return ['watch', '=', watch];
}

function runIn({ dueAt, body }: RunDocument): StoredRun {
  return { dueAt, body };
}

function sizeOf(runs: readonly RunDocument[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0);
}
