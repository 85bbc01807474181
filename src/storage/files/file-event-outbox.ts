import { randomBytes } from 'node:crypto';
import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventOutbox, EventOutboxFile } from '../ports/event-log.ts';
import { makeDirectory } from './directories.ts';
import { type HeldFileLock, holdLock } from './held-lock.ts';
import { eventOutboxDirectory } from './layout.ts';
import { PRIVATE_FILE } from './private-files.ts';
import { namesIn } from './workspace.ts';

const LOCK = '.lock';

/** Keeps the events of each process in a file of lines, whose lock the process holds. */
export function createFileEventOutbox(dataDir: string): EventOutbox {
  const directory = eventOutboxDirectory(dataDir);
  return {
    async create() {
      await makeDirectory(directory);
      const name = randomBytes(8).toString('hex');
      const lock = holdLock(join(directory, name + LOCK));
      if (lock === undefined) throw new Error(`${join(directory, name)} cannot be locked`);
      return fileIn(directory, name, lock);
    },
    async adopt() {
      const files: EventOutboxFile[] = [];
      for (const lockName of (await namesIn(directory)).filter((name) => name.endsWith(LOCK))) {
        const lock = holdLock(join(directory, lockName));
        if (lock !== undefined) files.push(fileIn(directory, lockName.slice(0, -LOCK.length), lock));
      }
      return files;
    },
  };
}

function fileIn(directory: string, name: string, lock: HeldFileLock): EventOutboxFile {
  const path = join(directory, name);
  const read = async (): Promise<readonly string[]> => {
    const text = await readFile(path, 'utf8').catch(() => '');
    // The last line has no end when its process was killed while it wrote.
    return text.split('\n').slice(0, -1);
  };
  return {
    name,
    append: (lines) => appendFile(path, lines.map((line) => `${line}\n`).join(''), { mode: PRIVATE_FILE }),
    read,
    clear: () => rm(path, { force: true }),
    async close() {
      if ((await read()).length === 0) {
        await rm(path, { force: true });
        await rm(`${path}${LOCK}`, { force: true });
      }
      lock.release();
    },
  };
}
