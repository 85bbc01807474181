import { ARTIFACT_STORE_KINDS, ARTIFACT_STORES } from '../../capture/artifacts/artifacts.ts';
import type { Result, StoredRecord } from '../../capture/result/result.ts';
import { isAway } from '../failures/store-errors.ts';
import { namingStore } from '../files/own-copies.ts';
import { readStore } from '../files/store-id.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { readFiles } from '../records/captured-files.ts';
import { marksOf } from '../records/marks.ts';
import { createSweep } from '../remote/sweep.ts';
import { listedRecord } from './listed-record.ts';
import type { Report } from './maintenance.ts';
import { type OpenPlaces, type Places, using } from './places.ts';

export interface Moved {
  readonly captures: number;
  /** Captures that cannot be read; they are reported, and stay where they are. */
  readonly left: number;
}

/**
 * Moves the captures of all other stores that the configuration names into `places.artifacts`, one after another: the
 * files are copied, then the record names the new store, then the old files are removed. A move that was cut short is
 * continued by the next one. The service may run, with the new store.
 */
export function moveCaptures(places: Places, report: Report): Promise<Moved> {
  return using(places, async (target) => {
    let moved: Moved = { captures: 0, left: 0 };
    for (const kind of ARTIFACT_STORE_KINDS) {
      if (kind === places.artifacts || !(await isThere(kind, places))) continue;
      const own = await using({ ...places, artifacts: kind }, async (source) => {
        const all = await moveAll(source, target, report);
        await deleteUnnamed(source);
        return all;
      });
      report(`moved ${own.captures} captures from ${kind} to ${places.artifacts}`);
      moved = { captures: moved.captures + own.captures, left: moved.left + own.left };
    }
    return moved;
  });
}

async function isThere(kind: Places['artifacts'], places: Places): Promise<boolean> {
  const { needs } = ARTIFACT_STORES[kind];
  return needs === null ? (await readStore(places.dataDir)) !== undefined : places[needs] != null;
}

async function moveAll(source: OpenPlaces, target: OpenPlaces, report: Report): Promise<Moved> {
  const from = source.artifacts;
  const store = await from.id();
  let captures = 0;
  let left = 0;
  for await (const id of from.oldest()) {
    const record = await listedRecord(from, id, report);
    if (record === null) left += 1;
    // The record of a failed capture, or a copy that waits for its delivery to another store.
    if (record?.artifacts?.store !== store) continue;
    if (await moveOne(record, from, target)) captures += 1;
    else {
      left += 1;
      report(`capture ${id}: a file cannot be read, or is not what was stored, so it stays`);
    }
  }
  return { captures, left };
}

/** Deletes old files whose readers had time to finish: a service that uses the new store does not. */
async function deleteUnnamed({ backend, database }: OpenPlaces): Promise<void> {
  if (backend === undefined) return;
  await createSweep({ backend, lock: () => database.lock('artifacts.sweep') }).pass();
}

async function moveOne(
  found: StoredRecord,
  from: ArtifactStore,
  { artifacts, database }: OpenPlaces,
): Promise<boolean> {
  const record = await namingStore(found, artifacts);
  const files = await readFiles(from, found, true).catch((error: unknown) => {
    if (isAway(error)) throw error;
    return undefined;
  });
  if (files === undefined) return false;
  const { results } = database;
  const known = await results.get(record.id);
  // A move that was cut short has copied the files, and deleted the record to write it with the other store.
  const isContinued = known === undefined && (await artifacts.has(record.id));
  await artifacts.put(record, files);
  if (isContinued) await results.insert(record);
  else await rename(record, known, results);
  await from.remove([record.id]);
  return true;
}

/** A record without files, as after a removal by the service, is not written again. */
async function rename(record: StoredRecord, known: Result | undefined, results: ResultStore): Promise<void> {
  if (known?.artifacts?.store === record.artifacts?.store) return;
  if (known === undefined) return;
  // Databases delete no record that is held.
  const marks = marksOf(known);
  if (marks.hold !== null) await results.mark(record.id, marks, { ...marks, hold: null });
  await results.delete([record.id]);
  await results.insert({ ...record, ...known, artifacts: record.artifacts });
}
