import { isAway } from '../is-away.ts';

/** Most records that one write carries. */
const MAX_WRITE = 512;

interface Waiting<T> {
  readonly record: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Records that arrive while a write is under way go into the next one together: one sync of the disk for all. */
export interface GatheredInserts<T> {
  insert(record: T): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** `write` keeps all of its records or rejects. */
export function gatherInserts<T>(write: (records: readonly T[]) => Promise<unknown>): GatheredInserts<T> {
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

  /** A record that can never be written must not take the others with it: each is tried alone. */
  async function afterFailure(batch: readonly Waiting<T>[], error: unknown): Promise<void> {
    for (const { record, resolve, reject } of batch) {
      if (isAway(error) || batch.length === 1) reject(error);
      else await write([record]).then(resolve, reject);
    }
  }

  return {
    insert: (record) =>
      new Promise((resolve, reject) => {
        waiting.push({ record, resolve, reject });
        writing ??= writeAll();
      }),
    idle: async () => {
      await writing;
    },
  };
}
