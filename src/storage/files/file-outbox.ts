import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { DetailedResult, Result } from '../../capture/result.ts';
import { parseId } from '../ids.ts';
import type { Adopted, IntendedRemoval, Outbox } from '../outbox.ts';
import { asDetailed } from '../records/record.ts';
import { writeFailure } from '../write-failure.ts';
import type { DataDirectory } from './data-directory.ts';
import { ifThere, syncDirectory } from './directories.ts';
import { writeDurably } from './durable-file.ts';
import { namesIn, outboxes, type Workspace } from './workspace.ts';

const written = z.looseObject({ evidence: z.unknown() });

const RECORD = '.json';
const SET_ASIDE = '.refused';
const REMOVAL = '.removal';

export function createFileOutbox(data: DataDirectory): Outbox {
  const inOwn = async (name: string) => join((await data.workspace()).outbox, name);

  async function write(name: string, content: unknown): Promise<void> {
    try {
      await data.use((workspace) => writeInto(workspace, name, JSON.stringify(content)));
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /** Returns the files of the records with these ids, in all outboxes. */
  async function filesOf(ids: readonly number[]): Promise<readonly { readonly id: number; readonly file: string }[]> {
    const wanted = new Set(ids);
    const files = [];
    for (const outbox of await outboxes(data.path)) {
      for (const name of await namesIn(outbox)) {
        const id = recordId(name.endsWith(SET_ASIDE) ? name.slice(0, -SET_ASIDE.length) : name);
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
    await write(name, ids);
    return removalIn(await inOwn(name), ids);
  }

  async function adopt(wanted: (record: Result) => Promise<boolean>): Promise<Adopted> {
    const own = (await data.workspace()).outbox;
    const records: number[] = [];
    const removals: IntendedRemoval[] = [];
    await data.sweep(async (outbox) => {
      for (const name of await namesIn(outbox)) {
        const left = join(outbox, name);
        const id = recordId(name);
        // An unreadable record stays for an operator to look at.
        if (id !== undefined) {
          const record = await readRecord(left).catch(() => undefined);
          if (record === undefined) continue;
          if (await wanted(record)) {
            await rename(left, join(own, name));
            records.push(id);
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
    return { records: records.sort((a, b) => a - b), removals };
  }

  return {
    add: (record) => write(`${record.id}${RECORD}`, record),
    read: async (id) => ifThere(readRecord(await inOwn(`${id}${RECORD}`))),
    remove: async (id) => unlinked(await inOwn(`${id}${RECORD}`)),
    setAside: async (id) => rename(await inOwn(`${id}${RECORD}`), await inOwn(`${id}${RECORD}${SET_ASIDE}`)),
    waiting: async (ids) => new Set((await filesOf(ids)).map(({ id }) => id)),
    withdraw,
    intend,
    sweep: () => data.sweep(async () => {}),
    adopt,
  };
}

async function writeInto({ staging, outbox }: Workspace, name: string, content: string): Promise<void> {
  const draft = join(staging, name);
  try {
    await writeDurably(draft, content);
    await rename(draft, join(outbox, name));
    await syncDirectory(outbox);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function removalIn(file: string, ids: readonly number[]): IntendedRemoval {
  return { ids, done: () => rm(file, { force: true }) };
}

function recordId(name: string): number | undefined {
  return name.endsWith(RECORD) ? parseId(name.slice(0, -RECORD.length)) : undefined;
}

/** Removes a file; false when it does not exist. */
async function unlinked(file: string): Promise<boolean> {
  return (await ifThere(unlink(file).then(() => true))) ?? false;
}

async function readRecord(path: string): Promise<DetailedResult> {
  const { evidence = null, ...record } = written.parse(JSON.parse(await readFile(path, 'utf8')));
  return asDetailed(record, evidence);
}

async function readIds(path: string): Promise<readonly number[]> {
  return z.array(z.int().positive()).parse(JSON.parse(await readFile(path, 'utf8')));
}
