import { resolve } from 'node:path';
import { ARTIFACT_STORES } from '../capture/artifacts/artifacts.ts';
import type { StorageConfig } from '../config/slices.ts';
import { CaptureStore, type CaptureStoreOptions } from './captures/capture-store.ts';
import type { Removed } from './captures/remover.ts';
import { createRetention, type Retention, type RetentionLimits, type RetentionOptions } from './captures/retention.ts';
import { withoutRemoved } from './captures/without-removed.ts';
import { holdNode } from './documents/nodes.ts';
import { unlessAway } from './failures/store-errors.ts';
import { writeFailure } from './failures/write-failure.ts';
import { createDataDirectory } from './files/data-directory.ts';
import { createFileArtifactStore } from './files/file-artifact-store.ts';
import { createFileEventOutbox } from './files/file-event-outbox.ts';
import { createFileOutbox } from './files/file-outbox.ts';
import { createFileThumbnailStore } from './files/file-thumbnail-store.ts';
import { eventsFile } from './files/layout.ts';
import {
  checkDatabaseFile,
  checkDataDirectory,
  checkRecords,
  checkStoreExists,
  holdsStore,
  rememberDatabase,
} from './maintenance/check-places.ts';
import { openArtifactStore } from './open-artifact-store.ts';
import { type DatabaseObservers, openDatabase } from './open-database.ts';
import type { ArtifactStore } from './ports/artifact-store.ts';
import type { Database, DocumentStores } from './ports/database.ts';
import type { EventLog, EventOutbox } from './ports/event-log.ts';
import type { ThumbnailStore } from './ports/thumbnail-store.ts';
import { createIdSource, type IdSource, randomNode } from './records/ids.ts';
import { openSqlite } from './sqlite/open.ts';

/*
 * Opens everything that is stored, and chooses the implementation of each port:
 *
 *   files/            artifacts, thumbnails and the outbox, in the data directory
 *   remote/           artifacts outside of the data directory: what they are there, their upload, what is left over
 *   gridfs/, s3/      keep them, in MongoDB and in an object store
 *   documents/        jobs, watches, standing queries, idempotency keys and node leases, as small documents
 *   sqlite/, mongo/   the database: results and documents; the event log is in SQLite
 *   memory/           replacements for a service without a database
 *   records/          code that the databases share
 *   captures/         code built on the ports: storing and removing whole captures, delivery, retention
 *   passes/           when background work runs: retries, intervals, pauses
 */

export interface StorageOptions
  extends DatabaseObservers,
    Partial<StorageConfig>,
    Pick<CaptureStoreOptions, 'maxOutbox' | 'onStoreFailure' | 'onRecovered' | 'onProblem'>,
    Pick<RetentionOptions, 'onPostponed' | 'onHeld'> {
  readonly dataDir: string;
  /** Whether this process makes ids, for which it leases a node. @default true */
  readonly makesIds?: boolean;
  /** Whether this process keeps its own event log, as every process outside of a cluster does. @default true */
  readonly logsEvents?: boolean;
  /** Limits of the retention. Without them, everything is kept. */
  readonly retain?: RetentionLimits;
  /** Called with what retention has removed. */
  readonly onRetained?: (removed: Removed) => void;
}

const THUMBNAIL_BYTES = 256 * 1024 ** 2;

/**
 * All open stores. Standing queries, and messages to receivers, are beside the event log whose ids are their positions.
 */
export interface Storage extends DocumentStores, Pick<Database, 'results' | 'openDeliveries'> {
  readonly ids: IdSource;
  readonly artifacts: ArtifactStore;
  readonly thumbnails: ThumbnailStore;
  readonly captureStore: CaptureStore;
  readonly retention: Retention;
  /** The event log of this process, which the code that starts it also closes. */
  readonly events: EventLog;
  /** Events that wait for the log of a cluster. */
  readonly eventOutbox: EventOutbox;
  /** Resolves with the directory for files of this process that are not kept. The next start removes what is left. */
  staging(): Promise<string>;
  /** Closes all stores. Call it after the last capture is stored. */
  close(): Promise<void>;
}

/**
 * Opens the stores. An unreachable database is not a failure: its store is `down` and recovers by itself. Rejects with
 * the system's error when the data directory cannot be used.
 */
export async function createStorage(options: StorageOptions): Promise<Storage> {
  const { dataDir, dbPath = null, artifacts: kind = 'files', onWarning = () => {}, onProblem = () => {} } = options;
  /** Whether the data directory holds the captures themselves, and not only those that wait for delivery elsewhere. */
  const holdsCaptures = ARTIFACT_STORES[kind].isInDataDir;
  // Two processes that deliver the same local copies could remove a capture between its upload and its record.
  const data = createDataDirectory(options.dataDir, { isShared: holdsCaptures });
  const ids = createIdSource({ clock: Date.now, node: randomNode(Math.random) });
  if (dbPath !== null) await checkDatabaseFile(dataDir, dbPath);
  if (options.requireStore === true && holdsCaptures) await checkStoreExists(dataDir, dbPath);
  // With GridFS an api node may have a new data directory at each start: no warning.
  const isNew = holdsCaptures && !holdsStore(dataDir);
  const { database, mongo } = await openDatabase(options);
  const { results, jobs, watches, idempotency, sharedLinks, labels } = database;
  const { logsEvents = true } = options;
  const ownEvents =
    database.isMultiProcess && logsEvents ? await openSqlite({ path: eventsFile(dataDir), onWarning }) : database;
  const local = createFileArtifactStore(data);
  const { artifacts, copies, lock, stop } = await openArtifactStore(kind, {
    dataDir,
    local,
    database,
    mongo,
    s3: options,
    onProblem,
  });
  const thumbnails = createFileThumbnailStore(dataDir, options.thumbnailBytes ?? THUMBNAIL_BYTES);
  const captureStore = new CaptureStore({
    artifacts,
    copies,
    results,
    outbox: createFileOutbox(data, onProblem),
    maxOutbox: options.maxOutbox,
    onProblem,
    onStoreFailure: options.onStoreFailure,
    onRecovered: options.onRecovered,
  });
  const { makesIds = true } = options;
  const node = makesIds ? holdNode({ ids, leases: database.nodes, random: Math.random }) : undefined;

  const retention = createRetention({
    limits: options.retain ?? { days: null, ofLabels: new Map(), bytes: null },
    artifacts,
    results,
    remove: (ids) => captureStore.remove(ids),
    lock,
    clock: Date.now,
    onRemoved: options.onRetained,
    onPostponed: options.onPostponed,
    onHeld: options.onHeld,
    onProblem,
  });

  async function close(): Promise<void> {
    node?.stop();
    await retention.stop();
    await captureStore.close();
    await stop();
    if (ownEvents !== database) await ownEvents.close();
    await database.close();
    await data.close();
  }

  /** Marks the data directory, and notes its database in the mark. */
  async function mark(): Promise<void> {
    try {
      const id = await data.storeId();
      if (dbPath !== null && results.state === 'up') await rememberDatabase(dataDir, id, dbPath);
    } catch (error) {
      // A full disk must not prevent the start; the next start marks the directory.
      if (writeFailure(error).code !== 'storage_full') throw error;
    }
  }

  try {
    // If the database goes away meanwhile, nothing is checked and the start continues.
    await unlessAway(() => checkDataDirectory({ dataDir, dbPath, results, onWarning }));
    await captureStore.start();
    await unlessAway(() => checkRecords(results, artifacts, captureStore, onWarning));
    await mark();
    if (isNew) {
      onWarning(
        `${resolve(dataDir)} held no store, and a new one was created: if captures were stored there before, stop the service and mount their file system`,
      );
    }
    await node?.refresh();
  } catch (error) {
    await close();
    throw error;
  }
  retention.start();
  const events = ownEvents.eventLog({ clock: Date.now, node: () => ids.node });
  return {
    ids,
    results,
    jobs,
    watches,
    queries: ownEvents.queries,
    receivers: database.receivers,
    openDeliveries: () => ownEvents.openDeliveries(),
    idempotency,
    sharedLinks,
    labels,
    artifacts: withoutRemoved(artifacts, (id) => captureStore.isRemoved(id)),
    thumbnails,
    captureStore,
    retention,
    events,
    eventOutbox: createFileEventOutbox(dataDir),
    staging: () => data.use(async ({ staging }) => staging),
    close,
  };
}
