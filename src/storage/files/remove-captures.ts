import { randomUUID } from 'node:crypto';
import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../system-error.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { captureDirectory } from './layout.ts';
import { bytesOfCapture } from './stored-bytes.ts';
import { exists } from './workspace.ts';

/** A capture that is not where anybody looks for it any more. */
interface Moved {
  readonly id: number;
  readonly away: string;
}

/**
 * Removes the files of captures. Each of them is moved away whole before anything is unlinked, so that it vanishes at
 * once; a crash in between leaves it where the next start sweeps. What somebody has open stays readable. `onRemoved`
 * is told of each that was there. Goes on behind one that cannot be removed, and rejects with its error at the end.
 */
export async function removeCaptures(
  data: DataDirectory,
  ids: readonly number[],
  onRemoved: (id: number, bytes: number) => void,
): Promise<void> {
  const failures: unknown[] = [];
  const moved: Moved[] = [];
  for (const id of ids) {
    try {
      const away = await moveAway(data, id);
      if (away !== undefined) moved.push({ id, away });
    } catch (error) {
      failures.push(error);
    }
  }
  const minutes = new Set(moved.map(({ id }) => dirname(captureDirectory(data.path, id))));
  // Another process may have removed one with its last capture.
  for (const minute of minutes) await ifThere(syncDirectory(minute));
  for (const { id, away } of moved) {
    const bytes = await bytesOfCapture(away);
    await rm(away, { recursive: true, force: true }).catch((error: unknown) => failures.push(error));
    onRemoved(id, bytes);
  }
  for (const minute of minutes) if (await removeIfEmpty(minute)) await removeIfEmpty(dirname(minute));
  if (failures.length > 0) throw failures[0];
}

/** Where it was moved; undefined when it is not there, or somebody else was faster. */
async function moveAway(data: DataDirectory, id: number): Promise<string | undefined> {
  const directory = captureDirectory(data.path, id);
  if (!(await exists(directory))) return undefined;
  try {
    return await data.use(async ({ staging }) => {
      const away = join(staging, `removed-${id}-${randomUUID()}`);
      await rename(directory, away);
      return away;
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && !(await exists(directory))) return undefined;
    throw error;
  }
}

/** A directory with something in it stays, and so does one that cannot be removed: it takes no room. */
async function removeIfEmpty(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    () => false,
  );
}
