import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFailure } from '../failures/write-failure.ts';
import type { Adopted, IntendedRemoval, Outbox } from '../ports/outbox.ts';
import { parseId } from '../records/ids.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { publishDurably } from './durable-file.ts';
import { PRIVATE_FILE } from './private-files.ts';
import { exists, namesIn, outboxes } from './workspace.ts';

/** Ends the name of the empty file that says that the record of a capture waits for the database. */
export const WAITING = '.waiting';
const SET_ASIDE = '.refused';
const REMOVAL = '.removal';

/** `onLost`: called, once per workspace, with an error that says that the workspace was removed with its notes. */
export function createFileOutbox(data: DataDirectory, onLost: (problem: Error) => void = () => {}): Outbox {
  /** The captures that this process has noted, each with the outbox of its note. */
  const noted = new Map<number, string>();
  const renewals = new Map<string, Promise<void>>();
  const reported = new Set<string>();

  async function write(name: string, content: string, noting: (outbox: string) => void = () => {}): Promise<void> {
    try {
      await data.use(({ staging, outbox }) => {
        noting(outbox);
        return publishDurably(join(staging, name), join(outbox, name), content, rename);
      });
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /**
   * Finds the note of a capture; undefined when it was withdrawn. A note that is gone together with its outbox was not:
   * the workspace was removed, and the notes in it are written again.
   */
  async function find(id: number): Promise<string | undefined> {
    const outbox = noted.get(id);
    if (outbox === undefined) return undefined;
    const file = noteIn(outbox, id);
    if (await exists(file)) return file;
    if (await exists(outbox)) {
      noted.delete(id);
      return undefined;
    }
    let renewal = renewals.get(outbox);
    if (renewal === undefined) {
      renewal = renew(outbox).finally(() => renewals.delete(outbox));
      renewals.set(outbox, renewal);
    }
    await renewal;
    return find(id);
  }

  async function renew(lost: string): Promise<void> {
    const ids = [...noted].flatMap(([id, outbox]) => (outbox === lost ? [id] : []));
    if (ids.length === 0) return;
    if (!reported.has(lost)) {
      onLost(new Error(`${dirname(lost)} was removed while it was in use. Outbox notes written again: ${ids.length}`));
      reported.add(lost);
    }
    try {
      await data.use(async ({ outbox }) => {
        for (const id of ids) await writeFile(noteIn(outbox, id), '', { mode: PRIVATE_FILE });
        await syncDirectory(outbox);
        for (const id of ids) {
          if (noted.has(id)) noted.set(id, outbox);
          else await rm(noteIn(outbox, id), { force: true });
        }
      });
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

  /** Returns which of these this process has noted in a workspace that was removed. */
  async function lostOf(ids: readonly number[]): Promise<readonly number[]> {
    const lost = [];
    for (const id of ids) {
      const outbox = noted.get(id);
      if (outbox !== undefined && !(await exists(outbox))) lost.push(id);
    }
    return lost;
  }

  async function withdraw(ids: readonly number[]): Promise<ReadonlySet<number>> {
    const withdrawn = new Set(await lostOf(ids));
    // Forgotten first: a note that is still known would be written again.
    for (const id of ids) noted.delete(id);
    for (const { id, file } of await filesOf(ids)) if (await unlinked(file)) withdrawn.add(id);
    return withdrawn;
  }

  async function intend(ids: readonly number[]): Promise<IntendedRemoval> {
    const name = `${randomUUID()}${REMOVAL}`;
    await write(name, JSON.stringify(ids));
    return removalIn(join((await data.workspace()).outbox, name), ids);
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
            noted.set(id, own);
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
    add: (id) => write(`${id}${WAITING}`, '', (outbox) => noted.set(id, outbox)),
    has: async (id) => (await find(id)) !== undefined,
    remove: async (id) => {
      const file = await find(id).finally(() => noted.delete(id));
      return file !== undefined && unlinked(file);
    },
    setAside: async (id) => {
      const file = await find(id).finally(() => noted.delete(id));
      if (file !== undefined) await rename(file, join(dirname(file), `${id}${SET_ASIDE}`));
    },
    waiting: async (ids) => new Set([...(await filesOf(ids)).map(({ id }) => id), ...(await lostOf(ids))]),
    withdraw,
    intend,
    sweep: () => data.sweep(async () => {}),
    adopt,
  };
}

function noteIn(outbox: string, id: number): string {
  return join(outbox, `${id}${WAITING}`);
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
