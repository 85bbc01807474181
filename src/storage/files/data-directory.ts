import { CapstanError } from '../../capture/errors.ts';
import { codeOf } from '../system-error.ts';
import { storeFile } from './layout.ts';
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

export function createDataDirectory(path: string): DataDirectory {
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
    opening ??= openWorkspace(path).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
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
    },
  };
}
