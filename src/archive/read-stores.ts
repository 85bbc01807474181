import { createDataDirectory } from '../storage/files/data-directory.ts';
import { createFileArtifactStore } from '../storage/files/file-artifact-store.ts';
import { openMongo } from '../storage/mongo/open.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import type { Database } from '../storage/ports/database.ts';
import type { ResultStore } from '../storage/ports/result-store.ts';
import { openSqlite } from '../storage/sqlite/open.ts';

/** The stores of a service, which may be running. */
export interface ReadStores {
  readonly results: ResultStore;
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  close(): Promise<void>;
}

export interface StorePlaces {
  readonly dataDir: string;
  readonly dbPath: string | null;
  readonly mongoUrl: string | null;
}

/** Opens the stores for reading. Rejects when there is no database, or when it cannot be reached. */
export async function openReadStores({ dataDir, dbPath, mongoUrl }: StorePlaces): Promise<ReadStores> {
  const data = createDataDirectory(dataDir);
  const database = await openDatabase(dbPath, mongoUrl);
  return {
    results: database.results,
    artifacts: createFileArtifactStore(data),
    close: async () => {
      await database.close();
      await data.close();
    },
  };
}

function openDatabase(dbPath: string | null, mongoUrl: string | null): Promise<Database> {
  if (dbPath !== null) return openSqlite({ path: dbPath });
  if (mongoUrl !== null) return openMongo({ url: mongoUrl });
  throw new Error('no database is configured: set --db-path or --mongo-url');
}
