import type { Collection, Db } from 'mongodb';
import { MAX_QUERIES, type QueryRecord, type QueryStore, refusalOfQuery } from '../ports/query-store.ts';
import type { Ask } from './connection.ts';
import { inTurn } from './lease.ts';

interface QueryDocument {
  readonly _id: string;
  readonly api_key_name: string | null;
  readonly filter: string;
  readonly created_at: Date;
  readonly position: number;
  readonly delivered: number;
  readonly acknowledged_at: Date | null;
}

/** Uses the server's time, because the clocks of the machines may differ. */
export function mongoQueries(db: Db, ask: Ask): QueryStore {
  const queries: Collection<QueryDocument> = db.collection('queries');
  const oneByOne = inTurn(db, ask, 'queries');
  return {
    add: (query, maxQueries = MAX_QUERIES) =>
      oneByOne(async () => {
        const { id, apiKeyName, filter, position } = query;
        const [all, own] = await Promise.all([
          queries.countDocuments(),
          queries.countDocuments({ api_key_name: apiKeyName }),
        ]);
        const refusal = refusalOfQuery(query, { all, own }, maxQueries);
        if (refusal !== undefined) throw refusal;
        const created = {
          api_key_name: { $literal: apiKeyName },
          filter: { $literal: filter },
          position,
          delivered: position,
          created_at: '$$NOW',
          acknowledged_at: null,
        };
        await queries.updateOne({ _id: id }, [{ $set: created }], { upsert: true });
      }),
    get: (id) =>
      ask(async () => {
        const found = await queries.findOne({ _id: id });
        return found === null ? undefined : recordOf(found);
      }),
    newest: (limit, apiKeyName) =>
      ask(() =>
        queries
          .find(apiKeyName === undefined ? {} : { api_key_name: apiKeyName })
          .sort({ created_at: -1, _id: -1 })
          .limit(limit)
          .map(recordOf)
          .toArray(),
      ),
    deliver: (id, upTo) =>
      ask(async () => (await queries.updateOne({ _id: id }, { $max: { delivered: upTo } })).matchedCount > 0),
    acknowledge: (id, upTo) =>
      ask(async () => {
        await queries.updateOne({ _id: id, position: { $lte: upTo }, delivered: { $gte: upTo } }, [
          { $set: { position: upTo, acknowledged_at: '$$NOW' } },
        ]);
      }),
    pass: (id, from, to) =>
      ask(async () => {
        await queries.updateOne(
          { _id: id, position: { $gte: from, $lt: to }, $expr: { $eq: ['$position', '$delivered'] } },
          { $set: { position: to, delivered: to } },
        );
      }),
    remove: (id) => ask(async () => (await queries.deleteOne({ _id: id })).deletedCount > 0),
  };
}

function recordOf(document: QueryDocument): QueryRecord {
  const { _id, api_key_name, filter, created_at, position, delivered, acknowledged_at } = document;
  return {
    id: _id,
    apiKeyName: api_key_name,
    filter,
    createdAt: created_at.toISOString(),
    position,
    delivered,
    acknowledgedAt: acknowledged_at?.toISOString() ?? null,
  };
}
