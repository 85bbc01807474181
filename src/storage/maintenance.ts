import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ArtifactStore } from './artifact-store.ts';
import type { Database } from './database.ts';
import { createDataDirectory } from './files/data-directory.ts';
import { createFileArtifactStore } from './files/file-artifact-store.ts';
import { openMongo } from './mongo/open.ts';
import type { Keyset } from './result-store.ts';
import { backupFile, problemsOfFile, restoreFile, setAside } from './sqlite/backup.ts';
import { openSqlite } from './sqlite/open.ts';

/* The functions behind `capstan db`: each works on the configured paths, beside a running service or without one. */

const PAGE = 250;

export interface Places {
  readonly dataDir: string;
  readonly dbPath: string | null;
  readonly mongoUrl: string | null;
}

/** Called with each finding, one line. */
export type Report = (line: string) => void;

/** Compares records and artifacts, after SQLite has checked its file. Returns the number of problems. */
export async function checkDatabase(places: Places, report: Report): Promise<number> {
  let problems = 0;
  const found = (line: string) => {
    problems += 1;
    report(line);
  };
  if (places.dbPath !== null) {
    const path = existing(places.dbPath);
    for (const line of problemsOfFile(path)) found(`${path}: ${line}`);
    // Its records cannot be trusted, nor can it be read to the end.
    if (problems > 0) return problems;
  }
  return using(places, async (database, artifacts) => {
    const store = await artifacts.id();
    for await (const { id, artifacts: stored } of allRecords(database)) {
      const isOurs = stored !== null && (stored.store ?? store) === store;
      if (isOurs && !(await artifacts.has(id))) found(`record ${id}: its artifacts are missing`);
    }
    for await (const id of artifacts.oldest()) {
      if ((await artifacts.has(id)) && (await database.results.get(id)) === undefined) {
        found(`capture ${id}: its record is missing`);
      }
    }
    return problems;
  });
}

/** Writes a copy of the SQLite database to a file that does not exist yet. */
export async function backupDatabase({ dbPath }: Places, target: string): Promise<void> {
  await backupFile(existing(sqliteOnly(dbPath)), resolve(target));
}

/** Puts a copy in the place of the SQLite database. Returns where the replaced one was moved to. */
export function restoreDatabase({ dbPath }: Places, source: string): string | undefined {
  return restoreFile(existing(source), resolve(sqliteOnly(dbPath)));
}

export interface Rebuilt {
  /** Records that are in the database now because of the rebuild. */
  readonly written: number;
  /** Captures of version 0.1, whose files do not hold the whole record. */
  readonly incomplete: number;
  /** Where a damaged database was moved to. */
  readonly aside: string | undefined;
}

/**
 * Writes the record of every stored capture into the database that is configured. A SQLite file that is damaged is set
 * aside first. Records of failed captures have no files, and do not come back.
 */
export async function rebuildDatabase(places: Places): Promise<Rebuilt> {
  const { dbPath } = places;
  const isDamaged = dbPath !== null && existsSync(dbPath) && problemsOfFile(resolve(dbPath)).length > 0;
  const aside = isDamaged ? setAside(resolve(dbPath)) : undefined;
  return using(places, async ({ results }, artifacts) => {
    let written = 0;
    let incomplete = 0;
    for await (const id of artifacts.oldest()) {
      if (!(await artifacts.has(id)) || (await results.get(id)) !== undefined) continue;
      const record = await artifacts.record(id);
      if (record === undefined) {
        incomplete += 1;
        continue;
      }
      const { evidence, ...result } = record;
      await results.insert(result, evidence);
      written += 1;
    }
    return { written, incomplete, aside };
  });
}

async function using<T>(
  places: Places,
  work: (database: Database, artifacts: ArtifactStore) => Promise<T>,
): Promise<T> {
  const data = createDataDirectory(existing(places.dataDir));
  const database = await open(places);
  try {
    return await work(database, createFileArtifactStore(data));
  } finally {
    await database.close();
    await data.close();
  }
}

async function open({ dbPath, mongoUrl }: Places): Promise<Database> {
  let why = '';
  const onState = (_: unknown, reason: string) => {
    why = reason;
  };
  if (dbPath === null && mongoUrl === null) throw new Error('no database is configured: set --db-path or --mongo-url');
  const database =
    mongoUrl === null ? await openSqlite({ path: dbPath ?? '', onState }) : await openMongo({ url: mongoUrl, onState });
  if (database.results.state === 'up') return database;
  await database.close();
  throw new Error(why);
}

async function* allRecords({ results }: Database) {
  let after: Keyset | undefined;
  for (;;) {
    const page = await results.page({ by: 'all' }, PAGE, after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = { probedAt: last.probed_at, id: last.id };
  }
}

function sqliteOnly(dbPath: string | null): string {
  if (dbPath !== null) return dbPath;
  throw new Error('only SQLite databases are backed up by Capstan: set --db-path, or use mongodump for MongoDB');
}

function existing(path: string): string {
  if (existsSync(path)) return resolve(path);
  throw new Error(`${resolve(path)} does not exist`);
}
