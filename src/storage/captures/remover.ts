import type { ArtifactStore } from '../artifact-store.ts';
import type { IntendedRemoval, Outbox } from '../outbox.ts';
import type { ResultStore } from '../result-store.ts';
import { writeFailure } from '../write-failure.ts';

/*
 * The record goes first, so that no record ever names files that are gone. A crash in between leaves files that are
 * there, are answered as there, and go when the next process takes over the intention, which is on the disk before
 * anything is removed.
 *
 * A record may wait in an outbox and be on its way to the database at that moment. Whoever removes it takes its file
 * out of the outbox before asking the database once more; whoever delivered it takes the same file out afterwards. So
 * one of the two finds the file gone, and knows: a deliverer that does removes what it has delivered.
 */

/** What was there, of the captures that were to be removed. */
export interface Removed {
  readonly screenshots: number;
  readonly records: number;
  /** Of the files. */
  readonly bytes: number;
}

export interface Remover {
  /** Removals that wait to be finished. */
  readonly unfinished: number;
  /**
   * Removes captures, records and files together. Rejects with `database_unavailable` when the database is away, or with
   * `internal`; nothing is removed then, or what was begun is finished later, by `finish`.
   */
  remove(ids: readonly number[]): Promise<Removed>;
  /** Whether any of it is there: record, waiting record or files. Rejects with `database_unavailable`. */
  has(id: number): Promise<boolean>;
  takeOver(removals: readonly IntendedRemoval[]): void;
  /** Tries what is unfinished again; rejects when some of it still is. */
  finish(): Promise<void>;
}

export interface RemoverOptions {
  readonly artifacts: ArtifactStore;
  readonly results: ResultStore;
  readonly outbox: Outbox;
}

const NOTHING: Removed = { screenshots: 0, records: 0, bytes: 0 };

export function createRemover({ artifacts, results, outbox }: RemoverOptions): Remover {
  const unfinished = new Set<IntendedRemoval>();

  async function remove(ids: readonly number[]): Promise<Removed> {
    if (results.kind === 'none') return removedOf(await artifacts.remove(ids), 0);
    const begun = new Set([...unfinished].flatMap((removal) => removal.ids));
    const fresh = ids.filter((id) => !begun.has(id));
    if (fresh.length < ids.length) await finish();
    return fresh.length === 0 ? NOTHING : removeFresh(fresh);
  }

  /** A full disk is why captures are removed: there the intention is kept in memory alone. */
  async function intend(ids: readonly number[]): Promise<IntendedRemoval> {
    try {
      return await outbox.intend(ids);
    } catch (error) {
      if (writeFailure(error).code !== 'storage_full') throw error;
      return { ids, done: () => Promise.resolve() };
    }
  }

  async function removeFresh(ids: readonly number[]): Promise<Removed> {
    const waiting = await outbox.waiting(ids);
    const removal = await intend(ids);
    let deleted: number;
    try {
      deleted = await results.delete(ids);
    } catch (error) {
      await removal.done();
      throw error;
    }
    try {
      return await complete(removal, deleted, waiting.size > 0 || deleted < ids.length);
    } catch (error) {
      unfinished.add(removal);
      throw error;
    }
  }

  /** `again`: the database may have got some of the records since it was asked. */
  async function complete(removal: IntendedRemoval, deleted: number, again: boolean): Promise<Removed> {
    const withdrawn = await outbox.withdraw(removal.ids);
    const late = again || withdrawn.size > 0 ? await results.delete(removal.ids) : 0;
    const files = await artifacts.remove(removal.ids);
    await removal.done();
    return removedOf(files, Math.min(deleted + Math.max(late, withdrawn.size), removal.ids.length));
  }

  /** One that cannot be finished does not keep the others from it. */
  async function finish(): Promise<void> {
    const failures: unknown[] = [];
    for (const removal of unfinished) {
      try {
        await complete(removal, 0, true);
        unfinished.delete(removal);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return {
    get unfinished() {
      return unfinished.size;
    },
    remove,
    has: async (id) => {
      if (await artifacts.has(id)) return true;
      if (results.kind === 'none') return false;
      return (await outbox.waiting([id])).has(id) || (await results.get(id)) !== undefined;
    },
    takeOver: (removals) => {
      for (const removal of removals) unfinished.add(removal);
    },
    finish,
  };
}

function removedOf(files: { readonly captures: number; readonly bytes: number }, records: number): Removed {
  return { screenshots: files.captures, records, bytes: files.bytes };
}
