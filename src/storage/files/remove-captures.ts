import { randomUUID } from 'node:crypto';
import { rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../failures/system-error.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { removeThumbnails } from './file-thumbnail-store.ts';
import { captureDirectory, RECORD_FILE } from './layout.ts';
import { bytesAt } from './stored-bytes.ts';
import { exists, namesIn } from './workspace.ts';

/** A capture that was moved out of its place. */
interface Moved {
  readonly id: number;
  /** False for a failed capture. */
  readonly hasFiles: boolean;
  readonly away: string;
}

/**
 * Removes the directories of captures and their thumbnails. Each capture is moved away as a whole before anything is
 * unlinked, so that it disappears at once; a crash in between leaves it where the next start sweeps. Open files stay
 * readable. `onRemoved` is called for each capture that existed. Continues after a capture that cannot be removed, and
 * rejects with its error at the end.
 */
export async function removeCaptures(
  data: DataDirectory,
  ids: readonly number[],
  onRemoved: (removed: Pick<Moved, 'id' | 'hasFiles'>, bytes: number) => void,
): Promise<void> {
  const failures: unknown[] = [];
  const moved: Moved[] = [];
  for (const id of ids) {
    try {
      const away = await moveAway(data, captureDirectory(data.path, id));
      if (away === undefined) continue;
      moved.push({ id, hasFiles: (await namesIn(away)).some((name) => name !== RECORD_FILE), away });
    } catch (error) {
      failures.push(error);
    }
  }
  const minutes = new Set(moved.map(({ id }) => dirname(captureDirectory(data.path, id))));
  // Another process may have removed the directory with its last capture.
  for (const minute of minutes) await ifThere(syncDirectory(minute));
  for (const { away, ...removed } of moved) {
    const bytes = await bytesAt(away);
    await rm(away, { recursive: true, force: true }).catch((error: unknown) => failures.push(error));
    onRemoved(removed, bytes);
  }
  // Thumbnails may be in this data directory although the capture is elsewhere.
  for (const id of ids) await removeThumbnails(data.path, id).catch((error: unknown) => failures.push(error));
  for (const minute of minutes) if (await removeIfEmpty(minute)) await removeIfEmpty(dirname(minute));
  if (failures.length > 0) throw failures[0];
}

/** Returns the new path; undefined when there is nothing at `path`, or when another process was faster. */
async function moveAway(data: DataDirectory, path: string): Promise<string | undefined> {
  if (!(await exists(path))) return undefined;
  try {
    return await data.use(async ({ staging }) => {
      const away = join(staging, `removed-${basename(path)}-${randomUUID()}`);
      await rename(path, away);
      return away;
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !(await exists(path))) return undefined;
    throw error;
  }
}

/** Removes a directory. One that is not empty or cannot be removed stays: it takes no space. */
async function removeIfEmpty(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    () => false,
  );
}
