import type { Config } from '../config/mod.ts';
import { type Inspection, inspectMongo, inspectSqlite } from '../storage/maintenance/inspect.ts';
import { type Finding, findingsOf } from './finding.ts';

const database = findingsOf('database');

export async function examineDatabase({
  dbPath,
  mongoUrl,
  dataDir,
}: Pick<Config, 'dbPath' | 'mongoUrl' | 'dataDir'>): Promise<readonly Finding[]> {
  if (dbPath !== null) return report('SQLite', await inspectSqlite(dbPath, dataDir));
  if (mongoUrl !== null) return report('MongoDB', await inspectMongo(mongoUrl));
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
