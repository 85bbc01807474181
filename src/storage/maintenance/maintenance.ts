import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ARTIFACT_STORE_KINDS, ARTIFACT_STORES } from '../../capture/artifacts/artifacts.ts';
import { nullIfDamaged } from '../failures/store-errors.ts';
import { WAITING } from '../files/file-outbox.ts';
import { readStore } from '../files/store-id.ts';
import { namesIn, outboxes } from '../files/workspace.ts';
import { pagesOf } from '../ports/result-store.ts';
import { unnamedFiles } from '../remote/sweep.ts';
import { backupFile, problemsOfFile, restoreFile, setAside } from '../sqlite/backup.ts';
import { damagedParts, wrongContents } from './contents.ts';
import { listedRecord } from './listed-record.ts';
import { existing, type Places, using } from './places.ts';
import { strayWords } from './stray-words.ts';

/*
 * The functions behind `capstan db` and `capstan export`: each works on the configured paths, whether a service is
 * running or not.
 */

const PAGE = 250;

/** Called with each finding, one line. */
export type Report = (line: string) => void;

/**
 * Compares records and artifacts, after SQLite has checked its file; with `contents`, also reads every file. Returns
 * the number of problems.
 */
export async function checkDatabase(places: Places, report: Report, contents = false): Promise<number> {
  let problems = 0;
  const found = (line: string) => {
    problems += 1;
    report(line);
  };
  if (places.dbPath !== null) {
    const path = existing(places.dbPath);
    for (const line of problemsOfFile(path)) found(`${path}: ${line}`);
    // The records of a damaged file cannot be trusted, and the file cannot be read to the end.
    if (problems > 0) return problems;
  }
  return using(places, async ({ database, artifacts, backend }) => {
    const store = await artifacts.id();
    let records = 0;
    let captures = 0;
    /** Records whose capture is there, less those whose capture is listed. */
    let unlisted = 0;
    /** Numbers of records of captures in other stores, by the name or the id of the store. */
    const elsewhere = new Map<string, number>();
    for await (const page of pagesOf(database.results, { by: 'all' }, PAGE)) {
      for (const { id, artifacts: stored } of page) {
        if (stored !== null && stored.store !== store)
          elsewhere.set(stored.store, (elsewhere.get(stored.store) ?? 0) + 1);
        if (stored?.store !== store) continue;
        records += 1;
        if (await artifacts.has(id)) unlisted += 1;
        else found(`record ${id}: its artifacts are missing`);
      }
    }
    for await (const id of artifacts.oldest()) {
      captures += 1;
      if ((await database.results.keyOf(id)) !== undefined) {
        unlisted -= 1;
        if (backend === undefined && (await artifacts.info(id).catch(nullIfDamaged)) === null)
          found(`capture ${id}: its record beside its files cannot be read`);
        const isIndexed = (await database.results.wordsOf([id])).has(id);
        const hasWords = async () => (await artifacts.record(id).catch(() => undefined))?.words !== undefined;
        if (!isIndexed && (await hasWords()))
          found(`capture ${id}: its words are not indexed; run \`capstan db index\``);
        continue;
      }
      if (await artifacts.has(id)) found(`capture ${id}: its record is missing`);
      else if ((await listedRecord(artifacts, id, found)) != null) found(`failed capture ${id}: its record is missing`);
    }
    for (const id of await strayWords(database.results)) {
      found(`words of capture ${id}: its record is missing; run \`capstan db index\``);
    }
    for (const [other, count] of elsewhere) report(`not compared: ${count} records of captures ${placeOf(other)}`);
    if (contents) for await (const line of wrongContents(artifacts)) found(line);
    if (backend === undefined) return problems;
    const { label } = ARTIFACT_STORES[places.artifacts];
    for await (const { id, part } of damagedParts(backend))
      found(`capture ${id}: its ${part} ${part === 'record' ? 'cannot be read' : 'is incomplete'} in ${label}`);
    let unnamed = 0;
    for await (const keys of unnamedFiles(backend)) unnamed += keys.length;
    if (unlisted > 0) report(`captures that have a record, and are not listed by ${label}: ${unlisted}`);
    if (unnamed > 0) report(`files that no capture names, which the service removes: ${unnamed}`);
    report(`compared ${records} records with ${captures} captures in ${label}`);
    const waiting = await waitingIn(places.dataDir);
    if (waiting > 0) report(`records that wait in ${resolve(places.dataDir)} for delivery: ${waiting}`);
    return problems;
  });
}

/** Says in which store captures are, and with which options they are compared. */
function placeOf(store: string): string {
  const kind = ARTIFACT_STORE_KINDS.find((one) => one === store);
  return kind === undefined
    ? `in the data directory of the store ${store}; to compare them, set --artifacts files and the --data-dir of that store`
    : `in ${ARTIFACT_STORES[kind].label}; to compare them, set --artifacts ${kind}`;
}

/** Number of records in a data directory that wait for the database. */
async function waitingIn(dataDir: string): Promise<number> {
  const names = await Promise.all((await outboxes(dataDir)).map(namesIn));
  return names.flat().filter((name) => name.endsWith(WAITING)).length;
}

/** Writes a copy of the SQLite database to a file that does not exist yet. */
export async function backupDatabase(places: Places, target: string): Promise<void> {
  await backupFile(existing(sqliteOnly(places, 'mongodump')), resolve(target));
}

/** Puts a copy in the place of the SQLite database. Returns where the replaced one was moved to. */
export function restoreDatabase(places: Places, source: string): string | undefined {
  const target = resolve(sqliteOnly(places, 'mongorestore'));
  return restoreFile(existing(source), target);
}

interface Rebuilt {
  /** Records that are in the database now because of the rebuild. */
  readonly written: number;
  /** Captures whose record cannot be read; they are reported, and left out. */
  readonly unreadable: number;
  /** Where a damaged database was moved to. */
  readonly aside: string | undefined;
}

/**
 * Writes the record of every capture, stored or failed, into the database that is configured. A SQLite file that is
 * damaged is set aside first.
 */
export async function rebuildDatabase(places: Places, report: Report): Promise<Rebuilt> {
  const { dbPath } = places;
  // Before the database is set aside, as `using` rejects without the id of the store.
  if (places.artifacts === 'files' && (await readStore(places.dataDir)) === undefined) {
    throw new Error(`${resolve(places.dataDir)} holds no store: --data-dir names the directory of the captures`);
  }
  const isDamaged = dbPath !== null && existsSync(dbPath) && problemsOfFile(resolve(dbPath)).length > 0;
  const aside = isDamaged ? setAside(resolve(dbPath)) : undefined;
  return using(places, async ({ database: { results }, artifacts }) => {
    let written = 0;
    let unreadable = 0;
    for await (const id of artifacts.oldest()) {
      if ((await results.get(id)) !== undefined) continue;
      const record = await listedRecord(artifacts, id, report);
      if (record === null) unreadable += 1;
      if (record == null) continue;
      await results.insert(record);
      written += 1;
    }
    return { written, unreadable, aside };
  });
}

function sqliteOnly({ dbPath, artifacts }: Places, tool: 'mongodump' | 'mongorestore'): string {
  if (dbPath !== null) return dbPath;
  const hint =
    artifacts === 'gridfs'
      ? `use ${tool} for MongoDB, which copies the captures in GridFS with their records`
      : `set --db-path, or use ${tool} for MongoDB`;
  throw new Error(`only SQLite databases are backed up by Capstan: ${hint}`);
}
