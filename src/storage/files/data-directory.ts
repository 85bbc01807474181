import { resolve } from 'node:path';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';
import { makeDirectory } from './directories.ts';
import { type HeldFileLock, holdLock } from './held-lock.ts';
import { ownerLock, storeFile } from './layout.ts';
import { touchPrivateSync } from './private-files.ts';
import { readOrCreateStoreId, readStore, restoreHint } from './store-id.ts';
import { openWorkspace, sweepWorkspaces, type Workspace } from './workspace.ts';

/** The data directory of a service, and this process's workspace in it, created on first use. */
export interface DataDirectory {
  readonly path: string;
  /** Returns the id of the store, which is assigned on first use. Rejects with the system's error. */
  storeId(): Promise<string>;
  /** Returns the workspace. Rejects with the system's error while it cannot be created; the next call retries. */
  workspace(): Promise<Workspace>;
  /**
   * Runs work in the workspace, and again in a new one when the workspace was removed. Rejects with
   * `storage_unavailable` when the store itself is gone.
   */
  use<T>(work: (workspace: Workspace) => Promise<T>): Promise<T>;
  /**
   * Removes what ended processes left; `adopt` first takes over the records in their outboxes. Rejects with the
   * system's error while the directory cannot be created.
   */
  sweep(adopt: (outbox: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

interface DataDirectoryOptions {
  /** Whether several processes may use the directory at once. @default true */
  readonly isShared?: boolean;
}

/** Thrown when another process uses a directory that processes do not share. */
class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';

  constructor(path: string) {
    super(
      `the data directory ${resolve(path)} is in use by another process: with --artifacts gridfs or s3, each process needs a --data-dir of its own`,
    );
  }
}

export function createDataDirectory(path: string, { isShared = true }: DataDirectoryOptions = {}): DataDirectory {
  let owned: HeldFileLock | undefined;
  let opening: Promise<Workspace> | undefined;
  let identifying: Promise<string> | undefined;

  function storeId(): Promise<string> {
    identifying ??= readOrCreateStoreId(path).catch((error: unknown) => {
      identifying = undefined;
      throw error;
    });
    return identifying;
  }

  function workspace(): Promise<Workspace> {
    opening ??= openOwn().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function openOwn(): Promise<Workspace> {
    if (!isShared) await own();
    return openWorkspace(path);
  }

  /** Takes the lock again for each workspace, because the directory may be another one than before. */
  async function own(): Promise<void> {
    await makeDirectory(path);
    owned?.release();
    let isHeld = false;
    // Without this, a lock file that cannot be created would look like a file system without locks.
    touchPrivateSync(ownerLock(path));
    owned = holdLock(ownerLock(path), () => {
      isHeld = true;
    });
    if (isHeld) throw new DirectoryInUseError(path);
  }

  /**
   * Rejects when the store is gone. An empty directory in its place is a lost mount, and writing to it would hide that.
   */
  async function checkStillThere(): Promise<void> {
    if (identifying === undefined || (await readStore(path)) !== undefined) return;
    throw new CapstanError('storage_unavailable', 'The data directory has lost its store.json: is it mounted?', {
      cause: new Error(
        `${storeFile(path)} is gone: mount it again, or restore the file, ${restoreHint(path, await identifying)}`,
      ),
    });
  }

  async function use<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
    const first = workspace();
    try {
      return await work(await first);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await checkStillThere();
      if (opening === first) opening = undefined;
      return work(await workspace());
    }
  }

  return {
    path,
    storeId,
    workspace,
    use,
    sweep: async (adopt) => {
      // The workspace is created first: a start must find out whether anything can be stored, even with empty outboxes.
      await workspace();
      await sweepWorkspaces(path, adopt);
    },
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      opening = undefined;
      await opened?.close();
      owned?.release();
      owned = undefined;
    },
  };
}
