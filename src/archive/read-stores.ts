import { createDataDirectory } from '../storage/files/data-directory.ts';
import { createFileArtifactStore } from '../storage/files/file-artifact-store.ts';
import { type DatabaseOptions, openExisting } from '../storage/open-database.ts';
import type { ArtifactStore } from '../storage/ports/artifact-store.ts';
import type { ResultStore } from '../storage/ports/result-store.ts';

/** The stores of a service, which may be running. */
export interface ReadStores {
  readonly results: ResultStore;
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  close(): Promise<void>;
}

export interface StorePlaces extends Pick<DatabaseOptions, 'dbPath' | 'mongoUrl'> {
  readonly dataDir: string;
}

/** Opens the stores for reading. Rejects when there is no database, or when it cannot be reached. */
export async function openReadStores({ dataDir, ...place }: StorePlaces): Promise<ReadStores> {
  const data = createDataDirectory(dataDir);
  const database = await openExisting(place);
  return {
    results: database.results,
    artifacts: createFileArtifactStore(data),
    close: async () => {
      await database.close();
      await data.close();
    },
  };
}
