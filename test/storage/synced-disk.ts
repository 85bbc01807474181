import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

/*
 * A directory and the state in which a power cut leaves it. Every change is made on the real disk, and noted: a file's
 * content survives once the file was synced, a name once its directory was synced after it.
 */

class SyncedFile {
  content: Uint8Array = new Uint8Array();
  synced: Uint8Array = new Uint8Array();
  lastSync = 0;
}

class SyncedDirectory {
  readonly names = new Map<string, Entry>();
  synced: ReadonlyMap<string, Entry> = new Map();
  lastSync = 0;
}

type Entry = SyncedFile | SyncedDirectory;

export interface SyncedDisk extends Disposable {
  /** Writes to another directory what a power cut would leave now. */
  cutInto(directory: string): void;
}

/** Observes what is done below a directory, which must be empty, until it is disposed. */
export function observeDisk(root: string): SyncedDisk {
  const top = new SyncedDirectory();
  const real = { ...fs };
  let syncs = 0;

  function entryAt(path: string): Entry | undefined {
    const below = relative(root, path);
    if (below.startsWith('..')) return undefined;
    let entry: Entry | undefined = top;
    let at = root;
    for (const name of below === '' ? [] : below.split('/')) {
      if (!(entry instanceof SyncedDirectory)) return undefined;
      at = join(at, name);
      // A call that finds a directory may end before the call that made it, which has not noted it yet.
      if (!entry.names.has(name) && statSync(at, { throwIfNoEntry: false })?.isDirectory() === true)
        entry.names.set(name, new SyncedDirectory());
      entry = entry.names.get(name);
    }
    return entry;
  }

  function set(path: string, entry: Entry | undefined): void {
    const parent = entryAt(dirname(path));
    if (!(parent instanceof SyncedDirectory)) return;
    if (entry === undefined) parent.names.delete(basename(path));
    else parent.names.set(basename(path), entry);
  }

  function observed(handle: FileHandle, entry: Entry | undefined): FileHandle {
    const { writeFile, sync } = handle;
    handle.writeFile = async (data, options) => {
      await writeFile.call(handle, data, options);
      if (typeof data !== 'string' && !(data instanceof Uint8Array)) throw new Error('this content is not observed');
      if (entry instanceof SyncedFile) entry.content = Buffer.from(data);
    };
    handle.sync = async () => {
      const started = ++syncs;
      // A change made while the sync runs may be missing on the disk.
      const before = entry instanceof SyncedDirectory ? new Map(entry.names) : undefined;
      const content = entry instanceof SyncedFile ? entry.content : undefined;
      await sync.call(handle);
      // A sync that started later has ended already, and saved more.
      if (entry === undefined || entry.lastSync > started) return;
      entry.lastSync = started;
      if (entry instanceof SyncedDirectory && before !== undefined) entry.synced = before;
      if (entry instanceof SyncedFile && content !== undefined) entry.synced = content;
    };
    return handle;
  }

  Object.assign(fs, {
    mkdir: async (...args: Parameters<typeof fs.mkdir>) => {
      const made = await real.mkdir(...args);
      entryAt(String(args[0]));
      return made;
    },
    open: async (...args: Parameters<typeof fs.open>) => {
      const handle = await real.open(...args);
      const path = String(args[0]);
      if (args[1] !== 'r' && entryAt(path) === undefined) set(path, new SyncedFile());
      return observed(handle, entryAt(path));
    },
    rename: async (from: string, to: string) => {
      await real.rename(from, to);
      const entry = entryAt(from);
      set(from, undefined);
      set(to, entry);
    },
    ...Object.fromEntries(
      (['rm', 'rmdir', 'unlink'] as const).map((name) => [
        name,
        async (path: string, options?: object) => {
          await real[name](path, options);
          set(path, undefined);
        },
      ]),
    ),
  });
  syncBuiltinESMExports();

  function write(entry: Entry, path: string): void {
    if (entry instanceof SyncedFile) writeFileSync(path, entry.synced);
    else {
      mkdirSync(path, { recursive: true });
      for (const [name, one] of entry.synced) write(one, join(path, name));
    }
  }

  return {
    cutInto: (directory) => write(top, directory),
    [Symbol.dispose]: () => {
      Object.assign(fs, real);
      syncBuiltinESMExports();
    },
  };
}
