import { randomUUID } from 'node:crypto';
import { rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../capture/basics/error-code.ts';
import { firstIdAt } from '../records/ids.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { captureDirectory, minuteDirectory, RECORD_FILE, timeNames } from './layout.ts';
import { bytesAt } from './stored-bytes.ts';
import { exists, namesIn } from './workspace.ts';

/** A capture that was moved out of its place. */
interface Moved {
  readonly id: number;
  readonly away: string;
}

interface RemovedFiles {
  /** False for a failed capture, which has only its record. */
  readonly hasFiles: boolean;
  readonly bytes: number;
}

/**
 * Removes the directories of captures. Each capture is moved away as a whole before anything is unlinked, so that it
 * disappears at once; a crash in between leaves it where the next start sweeps. Open files stay readable. `onRemoved` is
 * called for each capture that existed; without it, nothing is counted. Continues after a capture that cannot be
 * removed, and rejects with its error at the end. `emptied`: directories of minutes that may be empty. That of the
 * current minute stays until a later removal, because the next capture would have to make it again, durably.
 */
export async function removeCaptures(
  data: DataDirectory,
  ids: readonly number[],
  emptied: Set<string>,
  onRemoved?: (id: number, removed: RemovedFiles) => void,
): Promise<void> {
  const failures: unknown[] = [];
  const moved: Moved[] = [];
  for (const id of ids) {
    try {
      const away = await moveAway(data, captureDirectory(data.path, id));
      if (away === undefined) continue;
      moved.push({ id, away });
    } catch (error) {
      failures.push(error);
    }
  }
  const minutes = new Set(moved.map(({ id }) => dirname(captureDirectory(data.path, id))));
  // Another process may have removed the directory with its last capture.
  for (const minute of minutes) await ifThere(syncDirectory(minute));
  for (const { id, away } of moved) {
    const names = await namesIn(away);
    const bytes = onRemoved === undefined ? 0 : await bytesAt(away, names);
    await removeFiles(away, names).catch((error: unknown) => failures.push(error));
    onRemoved?.(id, { hasFiles: names.some((name) => name !== RECORD_FILE), bytes });
  }
  for (const minute of minutes) emptied.add(minute);
  const { day, minute: name } = timeNames(firstIdAt(new Date()));
  const current = minuteDirectory(data.path, day, name);
  for (const minute of emptied) {
    if (minute >= current) continue;
    emptied.delete(minute);
    if (await removeIfEmpty(minute)) await removeIfEmpty(dirname(minute));
  }
  if (failures.length > 0) throw failures[0];
}

/** Removes a directory of files, one by one: removing it recursively takes twice the system calls. */
async function removeFiles(directory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => unlink(join(directory, name))));
  await rmdir(directory);
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

/** Removes a directory. When it is not empty or cannot be removed, it stays: it takes no space. */
async function removeIfEmpty(directory: string): Promise<boolean> {
  return rmdir(directory).then(
    () => true,
    () => false,
  );
}
