import { writeFailure } from '../failures/write-failure.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { IntendedRemoval, Outbox } from '../ports/outbox.ts';
import type { Deleted, ResultStore } from '../ports/result-store.ts';

/*
 * The record is removed first, so that no record ever names missing files. A crash in between leaves files. The
 * intended removal is on disk before anything is removed: the next process takes it over and does not serve the files.
 *
 * A record may wait for the database and be on its way to it at that moment. The remover removes its note from the
 * outbox before it asks the database again; the deliverer removes the same note after writing. One of the two finds the
 * note gone. If it is the deliverer, it removes the record that it has written.
 */

/** Totals of a removal. Captures that did not exist, or are held, are not counted. */
export interface Removed {
  readonly screenshots: number;
  readonly records: number;
  /** Bytes of the files. */
  readonly bytes_freed: number;
}

export interface Removal extends Removed {
  /** Ids of the captures that were kept because they are held. */
  readonly held: readonly number[];
}

export type Remover = ReturnType<typeof createRemover>;

interface RemoverOptions {
  readonly artifacts: ArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
}

export const NOTHING: Removed = { screenshots: 0, records: 0, bytes_freed: 0 };

export function createRemover({ artifacts, results, outbox }: RemoverOptions) {
  const unfinished = new Set<IntendedRemoval>();

  /**
   * Removes captures, records and files together. Rejects with `database_unavailable` when the database is away, or
   * with `internal`; then nothing is removed, or `finish` completes it later.
   */
  async function remove(ids: readonly number[]): Promise<Removal> {
    if (results.kind === 'none') return removedOf(await artifacts.remove(ids), 0, []);
    const begun = new Set([...unfinished].flatMap((removal) => removal.ids));
    const fresh = ids.filter((id) => !begun.has(id));
    if (fresh.length < ids.length) await finish();
    const ours = await heldHere(fresh);
    return ours.length === 0 ? { ...NOTHING, held: [] } : removeFresh(ours);
  }

  /** Leaves out captures whose files another store holds: their records are removed where their files are. */
  async function heldHere(ids: readonly number[]): Promise<readonly number[]> {
    const elsewhere = await Promise.all(ids.map(isElsewhere));
    return ids.filter((_, at) => !elsewhere[at]);
  }

  /** Whether another artifact store holds the files of a capture. Rejects with `database_unavailable`. */
  async function isElsewhere(id: number): Promise<boolean> {
    if (results.kind === 'none') return false;
    const stored = (await results.get(id))?.artifacts;
    return stored != null && stored.store !== (await artifacts.id());
  }

  /** When the disk is full, the intended removal is kept in memory only, because removing is what frees the disk. */
  async function intend(ids: readonly number[]): Promise<IntendedRemoval> {
    try {
      return await outbox.intend(ids);
    } catch (error) {
      if (writeFailure(error).code !== 'storage_full') throw error;
      return { ids, done: () => Promise.resolve() };
    }
  }

  async function removeFresh(ids: readonly number[]): Promise<Removal> {
    const waiting = await outbox.waiting(ids);
    const removal = await intend(ids);
    let deleted: Deleted;
    try {
      deleted = await results.delete(ids);
    } catch (error) {
      await removal.done();
      throw error;
    }
    try {
      const { deleted: count, held } = deleted;
      return await complete(removal, count, held, waiting.size > 0 || count + held.length < ids.length);
    } catch (error) {
      unfinished.add(removal);
      throw error;
    }
  }

  /**
   * Completes a removal. `deleted`, `held`: the answer of the database. `again`: asks it once more, because records may
   * have reached it since. Files are removed last: by then, captures that are not held have no record, and so cannot
   * be put on hold any more.
   */
  async function complete(
    removal: IntendedRemoval,
    deleted: number,
    held: readonly number[],
    again: boolean,
  ): Promise<Removal> {
    const ids = removal.ids.filter((id) => !held.includes(id));
    const withdrawn = await outbox.withdraw(ids);
    const late = again || withdrawn.size > 0 ? await results.delete(ids) : { deleted: 0, held: [] };
    const files = await artifacts.remove(ids.filter((id) => !late.held.includes(id)));
    await removal.done();
    const records = Math.min(deleted + Math.max(late.deleted, withdrawn.size), ids.length);
    return removedOf(files, records, [...held, ...late.held]);
  }

  /** Retries incomplete removals, which do not block each other; rejects when some are still incomplete. */
  async function finish(): Promise<void> {
    const failures: unknown[] = [];
    for (const removal of unfinished) {
      try {
        await complete(removal, 0, [], true);
        unfinished.delete(removal);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    /** Number of removals that are not complete. */
    get unfinished() {
      return unfinished.size;
    },
    remove,
    /** Returns whether a record, a waiting record or files exist. Rejects with `database_unavailable`. */
    has: async (id: number): Promise<boolean> => {
      if (await artifacts.has(id)) return true;
      if (results.kind === 'none') return false;
      return (await outbox.waiting([id])).has(id) || (await results.get(id)) !== undefined;
    },
    isElsewhere,
    /** Whether the removal of a capture has begun and is not complete. */
    isUnfinished: (id: number) => unfinished.size > 0 && [...unfinished].some(({ ids }) => ids.includes(id)),
    takeOver: (removals: readonly IntendedRemoval[]): void => {
      for (const removal of removals) unfinished.add(removal);
    },
    finish,
  };
}

function removedOf(
  files: { readonly captures: number; readonly bytes: number },
  records: number,
  held: readonly number[],
): Removal {
  return { screenshots: files.captures, records, bytes_freed: files.bytes, held };
}
