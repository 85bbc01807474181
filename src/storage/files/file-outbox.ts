import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFailure } from '../failures/write-failure.ts';
import type { Adopted, IntendedRemoval, Outbox } from '../ports/outbox.ts';
import { parseId } from '../records/ids.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { publishDurably } from './durable-file.ts';
import { exists, namesIn, outboxes } from './workspace.ts';

/** Ends the name of the empty file that says that the record of a capture waits for the database. */
export const WAITING = '.waiting';
const SET_ASIDE = '.refused';
const REMOVAL = '.removal';

export function createFileOutbox(data: DataDirectory): Outbox {
  const inOwn = async (name: string) => join((await data.workspace()).outbox, name);

  async function write(name: string, content: string): Promise<void> {
    try {
      await data.use(({ staging, outbox }) => publishDurably(join(staging, name), join(outbox, name), content, rename));
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /** Returns the notes about these ids, in all outboxes. */
  async function filesOf(ids: readonly number[]): Promise<readonly { readonly id: number; readonly file: string }[]> {
    const wanted = new Set(ids);
    const files = [];
    for (const outbox of await outboxes(data.path)) {
      for (const name of await namesIn(outbox)) {
        const id = idIn(name, WAITING) ?? idIn(name, SET_ASIDE);
        if (id !== undefined && wanted.has(id)) files.push({ id, file: join(outbox, name) });
      }
    }
    return files;
  }

  async function withdraw(ids: readonly number[]): Promise<ReadonlySet<number>> {
    const withdrawn = new Set<number>();
    for (const { id, file } of await filesOf(ids)) if (await unlinked(file)) withdrawn.add(id);
    return withdrawn;
  }

  async function intend(ids: readonly number[]): Promise<IntendedRemoval> {
    const name = `${randomUUID()}${REMOVAL}`;
    await write(name, JSON.stringify(ids));
    return removalIn(await inOwn(name), ids);
  }

  async function adopt(isThere: (id: number) => Promise<boolean>): Promise<Adopted> {
    const own = (await data.workspace()).outbox;
    const waiting: number[] = [];
    const removals: IntendedRemoval[] = [];
    await data.sweep(async (outbox) => {
      for (const name of await namesIn(outbox)) {
        const left = join(outbox, name);
        const id = idIn(name, WAITING);
        if (id !== undefined) {
          if (await isThere(id)) {
            await rename(left, join(own, name));
            waiting.push(id);
          } else await rm(left);
        } else if (name.endsWith(REMOVAL)) {
          const ids = await readIds(left).catch(() => undefined);
          if (ids === undefined) continue;
          await rename(left, join(own, name));
          removals.push(removalIn(join(own, name), ids));
        }
      }
      await syncDirectory(own);
    });
    return { waiting: waiting.sort((a, b) => a - b), removals };
  }

  return {
    add: (id) => write(`${id}${WAITING}`, ''),
    has: async (id) => exists(await inOwn(`${id}${WAITING}`)),
    remove: async (id) => unlinked(await inOwn(`${id}${WAITING}`)),
    setAside: async (id) => rename(await inOwn(`${id}${WAITING}`), await inOwn(`${id}${SET_ASIDE}`)),
    waiting: async (ids) => new Set((await filesOf(ids)).map(({ id }) => id)),
    withdraw,
    intend,
    sweep: () => data.sweep(async () => {}),
    adopt,
  };
}

function removalIn(file: string, ids: readonly number[]): IntendedRemoval {
  return { ids, done: () => rm(file, { force: true }) };
}

function idIn(name: string, ending: string): number | undefined {
  return name.endsWith(ending) ? parseId(name.slice(0, -ending.length)) : undefined;
}

/** Removes a file; false when it does not exist. */
async function unlinked(file: string): Promise<boolean> {
  return (await ifThere(unlink(file).then(() => true))) ?? false;
}

async function readIds(path: string): Promise<readonly number[]> {
  return z.array(z.int().positive()).parse(JSON.parse(await readFile(path, 'utf8')));
}
