import type { ArtifactStore } from './artifact-store.ts';
import { type CaptureStore, createCaptureStore } from './capture-store.ts';
import { createDisabledStore } from './disabled-store.ts';
import type { EventLog } from './event-log.ts';
import { createDataDirectory } from './files/data-directory.ts';
import { createFileArtifactStore } from './files/file-artifact-store.ts';
import { holdLock } from './files/held-lock.ts';
import { retentionLock } from './files/layout.ts';
import { createIdSource, type IdSource, randomNode } from './ids.ts';
import { createMongoEventLog } from './mongo/event-log.ts';
import { openMongoStore } from './mongo/store.ts';
import { holdNode } from './node-lease.ts';
import { createOutbox } from './outbox.ts';
import { createOwnEventLog } from './own-event-log.ts';
import type { ResultStore, StoreState } from './result-store.ts';
import { createRetention, type Retention, type RetentionCounts, type RetentionLimits } from './retention.ts';
import { openSqliteStore } from './sqlite/store.ts';

export interface StorageOptions {
  readonly dataDir: string;
  /** SQLite file of results. At most one of this and `mongoUrl`; without both there is no database. */
  readonly dbPath?: string | null;
  readonly mongoUrl?: string | null;
  readonly maxOutbox?: number;
  /** Without it, everything is kept. */
  readonly retain?: RetentionLimits;
  /** Called with what was removed because of that. */
  readonly onRetained?: (removed: RetentionCounts) => void;
  /** Called when the database comes and goes, with what is wrong when it is `down`. */
  readonly onState?: (state: StoreState, reason: string) => void;
  /** Called with failures that nobody waits for. */
  readonly onProblem?: (problem: unknown) => void;
}

/** Everything that keeps something, opened. */
export interface Storage {
  readonly ids: IdSource;
  readonly results: ResultStore;
  readonly artifacts: ArtifactStore;
  readonly captureStore: CaptureStore;
  readonly retention: Retention;
  /** Closed by whoever starts it. */
  readonly events: EventLog;
  /** To be called when nothing is kept any more. */
  close(): Promise<void>;
}

/**
 * Opens the stores. A database that cannot be had is no failure: its store is `down` and recovers by itself. Rejects
 * with the system's error when the data directory cannot be used.
 */
export async function createStorage(options: StorageOptions): Promise<Storage> {
  const data = createDataDirectory(options.dataDir);
  const ids = createIdSource({ clock: Date.now, node: randomNode(Math.random) });
  const { results, events } = await openDatabase(options, () => ids.node);
  const artifacts = createFileArtifactStore(data);
  const captureStore = createCaptureStore({
    artifacts,
    results,
    outbox: createOutbox(data),
    ...(options.maxOutbox === undefined ? {} : { maxOutbox: options.maxOutbox }),
    ...(options.onProblem === undefined ? {} : { onProblem: options.onProblem }),
  });
  const node = holdNode({ ids, store: results, random: Math.random });

  const retention = createRetention({
    limits: options.retain ?? { days: null, bytes: null },
    artifacts,
    results,
    remove: (ids) => captureStore.remove(ids),
    lock: () => holdLock(retentionLock(options.dataDir)),
    clock: Date.now,
    ...(options.onRetained === undefined ? {} : { onRemoved: options.onRetained }),
    ...(options.onProblem === undefined ? {} : { onProblem: options.onProblem }),
  });

  async function close(): Promise<void> {
    node.stop();
    await retention.stop();
    await captureStore.close();
    await results.close();
    await data.close();
  }

  try {
    await captureStore.start();
    await node.refresh();
  } catch (error) {
    await close();
    throw error;
  }
  retention.start();
  return { ids, results, artifacts, captureStore, retention, events, close };
}

/** The database's store of results and log of events. `node`: what ids carry now. */
async function openDatabase(
  { dbPath, mongoUrl, onState }: StorageOptions,
  node: () => number,
): Promise<{ readonly results: ResultStore; readonly events: EventLog }> {
  const observed = onState === undefined ? {} : { onState };
  if (dbPath != null) {
    const results = await openSqliteStore({ path: dbPath, ...observed });
    return { results, events: createOwnEventLog({ table: results.events, clock: Date.now, node }) };
  }
  if (mongoUrl != null) {
    const results = await openMongoStore({ url: mongoUrl, ...observed });
    return { results, events: createMongoEventLog({ database: results.database, clock: Date.now, node }) };
  }
  return { results: createDisabledStore(), events: createOwnEventLog({ table: null, clock: Date.now, node }) };
}
