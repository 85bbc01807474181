import { isAway } from '../failures/store-errors.ts';

/** Maximum number of records per write. */
const MAX_WRITE = 512;

interface Waiting<T> {
  readonly record: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers records that arrive during a write into the next one: one disk sync for all of them. `write` stores all of
 * its records or rejects.
 */
export function gatherInserts<T>(write: (records: readonly T[]) => Promise<unknown>) {
  let waiting: Waiting<T>[] = [];
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_WRITE);
      waiting = waiting.slice(MAX_WRITE);
      try {
        await write(batch.map(({ record }) => record));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        await afterFailure(batch, error);
      }
    }
    writing = undefined;
  }

  /** A record that can never be written must not fail the others: each is retried alone. */
  async function afterFailure(batch: readonly Waiting<T>[], error: unknown): Promise<void> {
    for (const { record, resolve, reject } of batch) {
      if (isAway(error) || batch.length === 1) reject(error);
      else await write([record]).then(resolve, reject);
    }
  }

  return {
    insert: (record: T) =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ record, resolve, reject });
        writing ??= writeAll();
      }),
    /** Resolves when no write is running. */
    idle: async () => {
      await writing;
    },
  };
}
