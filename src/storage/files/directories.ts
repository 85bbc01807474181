import { mkdirSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../capture/basics/error-code.ts';
import { PRIVATE_DIRECTORY } from './private-files.ts';

/** Maximum number of attempts to create a directory while others remove it because it is empty. */
const MOVES = 5;
/** The system's codes for a rename onto a directory that has files. */
const EXISTS: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST']);

/* Not `recursive: true`: where a directory exists and nothing can be created in it (/proc), Node retries forever. */

/** Creates a directory and its missing parents, durably. Only this user can enter them. */
export async function makeDirectory(path: string): Promise<void> {
  if (await made(path)) return;
  await makeDirectory(dirname(path));
  if (!(await made(path))) throw notMade(path);
}

export function makeDirectorySync(path: string): void {
  if (madeSync(path)) return;
  makeDirectorySync(dirname(path));
  if (!madeSync(path)) throw notMade(path);
}

/** Syncs the names in a directory to disk. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows has no such operation, and refuses to open a directory.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Creates one directory; false when its parent directory is missing. */
async function made(path: string): Promise<boolean> {
  try {
    await mkdir(path, PRIVATE_DIRECTORY);
    await syncDirectory(dirname(path));
    return true;
  } catch (error) {
    return outcome(error, path);
  }
}

function madeSync(path: string): boolean {
  try {
    mkdirSync(path, PRIVATE_DIRECTORY);
    return true;
  } catch (error) {
    return outcome(error, path);
  }
}

function outcome(error: unknown, path: string): boolean {
  const code = codeOf(error);
  if (code === 'EEXIST') return true;
  if (code === 'ENOENT' && dirname(path) !== path) return false;
  throw error;
}

/**
 * Moves a file or directory, and creates the directory above its target; false when the target is a directory with
 * files, which is never replaced.
 */
export async function moveInto(source: string, target: string): Promise<boolean> {
  for (let move = 1; ; move += 1) {
    try {
      await rename(source, target);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code !== undefined && EXISTS.has(code)) return false;
      if (code !== 'ENOENT' || move === MOVES) throw error;
      await makeDirectory(dirname(target));
    }
  }
}

/** Resolves as `reading` does, or with undefined when the file or directory does not exist. */
export async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function notMade(path: string): Error {
  return Object.assign(new Error(`ENOENT: ${path} cannot be made`), { code: 'ENOENT', syscall: 'mkdir', path });
}
