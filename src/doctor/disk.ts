import { access, constants, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { ARTIFACT_STORES } from '../capture/artifacts/artifacts.ts';
import { errorText } from '../capture/basics/error-text.ts';
import { LOW_DISK_BYTES } from '../capture/low-disk.ts';
import type { Config } from '../config/mod.ts';
import { existingParent, inspectStore } from '../storage/maintenance/inspect.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Checks the free space of the data directory and of the temporary directory, which holds the browsers' profiles. */
export async function examineDisk({
  dataDir,
  dbPath,
  requireStore,
  artifacts,
}: Pick<Config, 'dataDir' | 'dbPath' | 'requireStore' | 'artifacts'>): Promise<readonly Finding[]> {
  const unusable = ARTIFACT_STORES[artifacts].isInDataDir
    ? await inspectStore(dataDir, dbPath, requireStore)
    : undefined;
  if (unusable !== undefined) return findingsOf('data directory').failure(unusable.detail, unusable.advice);
  const [data, temporary] = await Promise.all([
    examineDirectory('data directory', resolve(dataDir), 'set --retain-bytes, or free space'),
    examineDirectory('temporary files', tmpdir(), 'free space, or set TMPDIR'),
  ]);
  return [...data, ...temporary];
}

async function examineDirectory(check: string, path: string, whenFull: string): Promise<readonly Finding[]> {
  const finding = findingsOf(check);
  try {
    const isThere = await stat(path).catch(() => undefined);
    if (isThere !== undefined && !isThere.isDirectory())
      return finding.failure(`${path} is not a directory`, 'name another one');
    const place = isThere === undefined ? existingParent(path) : path;
    await access(place, constants.W_OK | constants.X_OK);
    const { bavail, bsize, ffree, files } = await statfs(place);
    const free = bavail * bsize;
    const found = `${path}${isThere === undefined ? ', which will be created' : ''}: ${gib(free)} free`;
    if (files > 0 && ffree === 0) return finding.failure(`${path}: no inode is free`, 'remove files');
    if (free === 0) return finding.failure(found, whenFull);
    return free < LOW_DISK_BYTES ? finding.warning(found, whenFull) : finding.ok(found);
  } catch (error) {
    const reason = errorText(error);
    return finding.failure(`${path} cannot be written: ${reason}`, `let the service's user write to it, or mount it`);
  }
}

export function gib(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
