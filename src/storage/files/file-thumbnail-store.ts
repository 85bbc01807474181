import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { whenFirstAsked } from '../../capture/basics/once.ts';
import type { ThumbnailStore } from '../ports/thumbnail-store.ts';
import { parseId } from '../records/ids.ts';
import { thumbnailsDirectory, thumbnailsOf } from './layout.ts';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from './private-files.ts';
import { namesIn } from './workspace.ts';

/** Names of thumbnails. Files with other names were not completed. */
const NAME = /^[\w-]+\.[a-z]+$/;

/** Bytes of each thumbnail, by its path. */
type Sizes = LRUCache<string, number>;

/**
 * Keeps thumbnails in the data directory, at most `maxBytes` of them. Processes that share the directory read each
 * other's thumbnails; each limits the total of its own and of those that it found at its start.
 */
export function createFileThumbnailStore(dataDir: string, maxBytes: number): ThumbnailStore {
  const sizes: Sizes = new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: (bytes) => Math.max(bytes, 1),
    dispose: (_bytes, path, reason) => {
      if (reason === 'evict') void removeFile(path);
    },
  });
  // The directory is read only when a client first asks for a thumbnail.
  const count = whenFirstAsked(() => countStored(dataDir, sizes).catch(() => undefined));

  return {
    read: async (id, name) => {
      const path = join(thumbnailsOf(dataDir, id), name);
      const image = await readFile(path).catch(() => undefined);
      // A file may be empty after a crash of the machine.
      if (image === undefined || image.byteLength === 0) return undefined;
      if (sizes.get(path) === undefined) sizes.set(path, image.byteLength);
      return image;
    },
    write: async (id, name, image) => {
      if (image.byteLength > maxBytes) return;
      const directory = thumbnailsOf(dataDir, id);
      const unfinished = join(directory, `.${randomUUID()}`);
      try {
        await count();
        // Not synced, because a cache may disappear. If a directory cannot be created, the write below fails.
        for (const path of [dirname(directory), directory]) await mkdir(path, PRIVATE_DIRECTORY).catch(() => undefined);
        await writeFile(unfinished, image, { mode: PRIVATE_FILE });
        await rename(unfinished, join(directory, name));
        sizes.set(join(directory, name), image.byteLength);
      } catch {
        await rm(unfinished, { force: true }).catch(() => undefined);
      }
    },
    remove: async (id) => {
      const directory = thumbnailsOf(dataDir, id);
      for (const name of await namesIn(directory).catch(() => [])) sizes.delete(join(directory, name));
      await removeThumbnails(dataDir, id).catch(() => undefined);
    },
  };
}

/** Removes the thumbnails of a capture, whichever process stored them. */
export async function removeThumbnails(dataDir: string, id: number): Promise<void> {
  await rm(thumbnailsOf(dataDir, id), { recursive: true, force: true });
}

/** Notes the thumbnails that earlier processes left, oldest first, and removes files that were not completed. */
async function countStored(dataDir: string, sizes: Sizes): Promise<void> {
  const found: { readonly path: string; readonly bytes: number; readonly at: number }[] = [];
  for (const id of (await namesIn(thumbnailsDirectory(dataDir))).map(parseId)) {
    if (id === undefined) continue;
    const directory = thumbnailsOf(dataDir, id);
    for (const name of await namesIn(directory)) {
      const path = join(directory, name);
      const { size, mtimeMs } = (await stat(path).catch(() => undefined)) ?? { size: 0, mtimeMs: 0 };
      if (NAME.test(name)) found.push({ path, bytes: size, at: mtimeMs });
      else await rm(path, { force: true }).catch(() => undefined);
    }
  }
  for (const { path, bytes } of found.toSorted((a, b) => a.at - b.at)) {
    if (!sizes.has(path)) sizes.set(path, bytes);
  }
}

async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
  // Fails while the directory has other thumbnails.
  await rmdir(dirname(path)).catch(() => undefined);
}
