import type { Collection, Db } from 'mongodb';
import type { LastUse } from '../last-use.ts';
import type { Ask } from './connection.ts';

const ID = 'retention-last-use';

interface LastUseDocument {
  readonly _id: string;
  readonly at: Date;
}

/** Keeps the last use in the database, for a store that processes with data directories of their own share. */
export function mongoLastUse(database: Db, ask: Ask): LastUse {
  const leases: Collection<LastUseDocument> = database.collection('leases');
  return {
    read: async () => (await ask(() => leases.findOne({ _id: ID })))?.at.getTime(),
    note: async (ms) => {
      const $set = { at: new Date(ms) };
      await ask(() => leases.updateOne({ _id: ID }, { $set }, { upsert: true })).catch(() => undefined);
    },
  };
}

/** Reads the server's clock, in milliseconds since the Unix epoch. Rejects with `database_unavailable`. */
export function mongoClock(database: Db, ask: Ask): () => Promise<number> {
  return async () => {
    const { localTime } = await ask(() => database.command({ hello: 1 }));
    return localTime.getTime();
  };
}
