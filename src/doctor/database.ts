import { type DatabaseKind, type DatabasePlaces, databaseOf } from '../capture/artifacts/artifacts.ts';
import type { Config } from '../config/mod.ts';
import { type Inspection, inspectMongo, inspectSqlite } from '../storage/maintenance/inspect.ts';
import { type Finding, findingsOf } from './finding.ts';

const database = findingsOf('database');

/** Name of each kind of database, and how it is inspected at its place. */
const KINDS: Readonly<
  Record<DatabaseKind, readonly [string, (place: string, dataDir: string) => Promise<Inspection>]>
> = { sqlite: ['SQLite', inspectSqlite], mongo: ['MongoDB', inspectMongo] };

export async function examineDatabase(config: DatabasePlaces & Pick<Config, 'dataDir'>): Promise<readonly Finding[]> {
  const configured = databaseOf(config);
  if (configured !== undefined) {
    const [name, inspect] = KINDS[configured.kind];
    return report(name, await inspect(configured.place, config.dataDir));
  }
  return database.warning(
    'none: results are not kept, and /results* answers 503',
    'set --db-path or --mongo-url; "npm start" and "npm run doctor" set --db-path data/results.db',
  );
}

function report(kind: string, { state, detail, advice }: Inspection): readonly Finding[] {
  switch (state) {
    case 'usable':
      return database.ok(`${kind}, ${detail}`);
    case 'unavailable':
      return database.warning(
        `${kind}: ${detail}`,
        `${advice}; until then captures go on, and records wait in the outbox`,
      );
    case 'refused':
      return database.failure(`${kind}: ${detail}`, advice);
  }
}
