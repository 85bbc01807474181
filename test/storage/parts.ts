import { join } from 'node:path';
import type { Result } from '../../src/capture/result/result.ts';
import { CaptureStore } from '../../src/storage/captures/capture-store.ts';
import { createDataDirectory, type DataDirectory } from '../../src/storage/files/data-directory.ts';
import { createFileArtifactStore } from '../../src/storage/files/file-artifact-store.ts';
import { createFileOutbox } from '../../src/storage/files/file-outbox.ts';
import { createOwnCopies } from '../../src/storage/files/own-copies.ts';
import { createNoDatabase } from '../../src/storage/memory/no-database.ts';
import { openMongo } from '../../src/storage/mongo/open.ts';
import type { LocalStore } from '../../src/storage/ports/artifact-store.ts';
import type { Outbox } from '../../src/storage/ports/outbox.ts';
import type { ResultStore } from '../../src/storage/ports/result-store.ts';
import { openSqlite } from '../../src/storage/sqlite/open.ts';
import { captureOf } from './result-of.ts';

export const IMAGE = Buffer.alloc(5000, 'image');
export const HTML = '<p>Grüße</p>';

/** The parts that one process has over a data directory and a database, each accessible on its own. */
export interface Parts {
  readonly directory: string;
  readonly data: DataDirectory;
  readonly artifacts: LocalStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
  readonly captureStore: CaptureStore;
  readonly problems: readonly unknown[];
  close(): Promise<void>;
}

/** `change` wraps a part before the capture store gets it. */
export interface PartsOptions {
  readonly database?: boolean;
  /** @default a SQLite file in the directory */
  readonly mongoUrl?: string | null;
  readonly change?: (parts: Pick<Parts, 'artifacts' | 'results' | 'outbox'>) => Partial<Parts>;
}

export async function openParts(
  directory: string,
  { database = true, mongoUrl = null, change }: PartsOptions = {},
): Promise<Parts> {
  const data = createDataDirectory(join(directory, 'data'));
  const open = () => (mongoUrl === null ? openSqlite({ path: databaseFile(directory) }) : openMongo({ url: mongoUrl }));
  const opened = database ? await open() : createNoDatabase();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const artifacts = createFileArtifactStore(data);
  const made = { artifacts, results: opened.results, outbox: createFileOutbox(data, onProblem) };
  const parts = { ...made, ...change?.(made) };
  const copies = createOwnCopies(parts.artifacts, { keepsFailed: true });
  const captureStore = new CaptureStore({ ...parts, copies, onProblem });
  await captureStore.start();
  return {
    directory,
    data,
    ...parts,
    captureStore,
    problems,
    close: async () => {
      await captureStore.close();
      await opened.close();
      await data.close();
    },
  };
}

export function databaseFile(directory: string): string {
  return join(directory, 'results.db');
}

/** Stores a capture with files, like a browser's screenshot. */
export function keepPicture(captureStore: CaptureStore, id: number, wanted: Partial<Result> = {}): Promise<Result> {
  return captureStore.keep(captureOf(id, wanted), { image: IMAGE, html: HTML });
}

/** Replaces some methods of a part. */
export function around<T extends object>(part: T, changed: Partial<T>): T {
  return new Proxy(part, {
    get: (_, key) => {
      const value = Reflect.get(key in changed ? changed : part, key, key in changed ? changed : part);
      return typeof value === 'function' ? value.bind(key in changed ? changed : part) : value;
    },
  });
}
