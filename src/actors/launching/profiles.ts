import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../capture/basics/error-code.ts';
import { processStat } from '../checks/process-stat.ts';
import { removeProfile } from './remove-profile.ts';

/*
 * The name of a profile directory contains the process id and the start time of its owner, so that a later service can
 * tell whether the owner is still running. The process id alone does not suffice: in a restarted container the service
 * has the same one.
 */

const PREFIX = 'capstan-profile-';
const NAME = /^capstan-profile-(\d+)-(?:(\d+)-)?/;

/** Creates a profile directory for a browser of this process. Resolves with its path. */
export async function createProfile(): Promise<string> {
  return mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-${await startOf(process.pid)}-`));
}

/**
 * Removes the profile directories of processes that no longer run, which a `kill -9` leaves behind. Resolves with the
 * number of directories removed.
 */
export async function sweepProfiles(): Promise<number> {
  const names = await readdir(tmpdir());
  const owned = await Promise.all(names.map(hasOwner));
  const orphans = names.filter((name, index) => NAME.test(name) && owned[index] === false);
  const removals = orphans.map((name) => removeProfile(join(tmpdir(), name)));
  // Directories of other users cannot be removed, except by root.
  return (await Promise.allSettled(removals)).filter(({ status }) => status === 'fulfilled').length;
}

/** Returns whether the process that created the directory is still running. */
async function hasOwner(name: string): Promise<boolean> {
  const [match, pid, start] = NAME.exec(name) ?? [];
  if (match === undefined || !isAlive(Number(pid))) return false;
  return start === undefined || start === (await startOf(Number(pid)));
}

/** Returns the start time of a process; `0` where the system does not report it. */
async function startOf(pid: number): Promise<string> {
  return (await processStat(pid))?.start ?? '0';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
