import { randomBytes } from 'node:crypto';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../capture/basics/error-code.ts';
import { makeDirectory } from './directories.ts';
import { type HeldFileLock, holdLock } from './held-lock.ts';
import {
  capturesDirectory,
  ownerLock,
  retentionLock,
  storeFile,
  thumbnailsDirectory,
  workspacesDirectory,
} from './layout.ts';
import { makePrivateSync, PRIVATE_DIRECTORY, PRIVATE_FILE } from './private-files.ts';

/*
 * Each process keeps its work in progress in a directory of its own, whose lock it holds. A process that gets the lock
 * of another process's directory knows that the other process has ended, and may take over what it left.
 */

const ATTEMPTS = 10;

export interface Workspace {
  readonly staging: string;
  readonly outbox: string;
  /** Releases the lock; removes the directory unless records wait in its outbox. */
  close(): Promise<void>;
}

/** Creates the workspace of this process. Rejects with the system's error. */
export async function openWorkspace(dataDir: string): Promise<Workspace> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const directory = join(workspacesDirectory(dataDir), `${process.pid}-${randomBytes(6).toString('hex')}`);
    await makeDirectory(directory);
    closeToOthers(dataDir);
    try {
      const lock = holdLock(join(directory, 'lock'));
      // Before this process got the lock, another one may have removed the directory as that of an ended process.
      if (lock !== undefined && (await exists(join(directory, 'lock')))) return await workspaceIn(directory, lock);
      lock?.release();
    } catch (error) {
      // Otherwise every attempt would leave a directory, and captures keep retrying on a full disk.
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }
  throw new Error(`no workspace can be locked in ${workspacesDirectory(dataDir)}`);
}

/**
 * Repairs the modes of the data directory and what is directly in it, in bounded time. Other users cannot reach
 * the files below these directories.
 */
function closeToOthers(dataDir: string): void {
  makePrivateSync(dataDir, PRIVATE_DIRECTORY);
  for (const directoryOf of [capturesDirectory, workspacesDirectory, thumbnailsDirectory]) {
    makePrivateSync(directoryOf(dataDir), PRIVATE_DIRECTORY);
  }
  for (const fileOf of [storeFile, ownerLock, retentionLock]) makePrivateSync(fileOf(dataDir), PRIVATE_FILE);
}

async function workspaceIn(directory: string, lock: HeldFileLock): Promise<Workspace> {
  const staging = join(directory, 'staging');
  const outbox = join(directory, 'outbox');
  try {
    await makeDirectory(staging);
    await makeDirectory(outbox);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    staging,
    outbox,
    close: async () => {
      await removeWorkspace(directory, outbox);
      lock.release();
    },
  };
}

/** Visits the workspaces of ended processes: `adopt` takes over the records in their outboxes, the rest is removed. */
export async function sweepWorkspaces(dataDir: string, adopt: (outbox: string) => Promise<void>): Promise<void> {
  for (const name of await namesIn(workspacesDirectory(dataDir))) {
    const directory = join(workspacesDirectory(dataDir), name);
    const lock = holdLock(join(directory, 'lock'));
    if (lock === undefined) continue;
    try {
      const outbox = join(directory, 'outbox');
      await adopt(outbox);
      await removeWorkspace(directory, outbox);
    } finally {
      lock.release();
    }
  }
}

/** The workspaces of all processes, including ended ones. */
export async function outboxes(dataDir: string): Promise<string[]> {
  const workspaces = workspacesDirectory(dataDir);
  return (await namesIn(workspaces)).map((name) => join(workspaces, name, 'outbox'));
}

async function removeWorkspace(directory: string, outbox: string): Promise<void> {
  await rm(join(directory, 'staging'), { recursive: true, force: true });
  try {
    await rmdir(outbox);
  } catch (error) {
    // Records wait in the outbox: the next process takes them over.
    if (codeOf(error) !== 'ENOENT') return;
  }
  await rm(directory, { recursive: true, force: true });
}

/** Returns the names in a directory; none when it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
