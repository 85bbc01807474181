import type { Evidence } from '../../capture/evidence.ts';
import type { Result } from '../../capture/result.ts';
import type { Keyset, ResultFilter, ResultStore, StoreState } from '../ports/result-store.ts';
import { gatherInserts } from '../records/gathered-inserts.ts';
import { hostRanges } from '../records/hosts.ts';
import { asDetailed, asRecord, placeOf, startOf, timeOf, urlKey, urlKeysOf, wantedUrlKeys } from '../records/record.ts';
import { hostTermsOf, termsOf, wantedTerms } from '../records/terms.ts';
import type { Remote } from './remote.ts';
import type { ResultTable } from './result-table.ts';
import type { Row, RowFilter } from './rows.ts';

export interface SqliteResults {
  readonly store: ResultStore;
  /** Resolves when no insert is running. */
  idle(): Promise<void>;
}

/** The port to the results, through the worker thread. */
export function sqliteResults(table: Remote<ResultTable>, thread: { readonly state: StoreState }): SqliteResults {
  const inserts = gatherInserts<Row>((rows) => table.insert(rows));
  const pageOf = (filter: ResultFilter, limit: number, after: Keyset | undefined) => {
    const { where = {}, ofKey } = filter;
    const from = where.from === undefined ? null : timeOf(where.from);
    const wanted = { filter: rowFilterOf(filter), terms: wantedTerms(where, ofKey), from };
    return table.page(wanted, limit, placeOf(startOf(where, after)));
  };
  const store: ResultStore = {
    kind: 'sqlite',
    get state() {
      return thread.state;
    },
    insert: async (result, evidence = null) => inserts.insert(rowOf(result, evidence)),
    get: async (id) => {
      const row = await table.get(id);
      if (row === undefined) return undefined;
      return asDetailed(JSON.parse(row.record), row.evidence === null ? null : JSON.parse(row.evidence));
    },
    page: async (filter, limit, after) => {
      const records = await pageOf(filter, limit, after);
      return records.map((record) => asRecord(JSON.parse(record)));
    },
    similar: async (likeness, limit) => {
      const rows = await table.similar(likeness, limit);
      return rows.map(({ record, distance }) => ({ ...asRecord(JSON.parse(record)), distance }));
    },
    delete: (ids) => table.delete(ids),
    oldest: (limit, before, after = 0) => table.oldest(limit, before, after),
  };
  return { store, idle: () => inserts.idle() };
}

export function rowOf(result: Result, evidence: Evidence | null): Row {
  const [key = urlKey(result.url), finalUrlKey = null] = urlKeysOf(result);
  return {
    id: result.id,
    probedAt: timeOf(result.probed_at),
    host: result.host,
    urlKey: key,
    finalUrlKey,
    record: JSON.stringify(result),
    evidence: evidence === null ? null : JSON.stringify(evidence),
    perceptionHash: result.perception_hash,
    apiKeyName: result.api_key_name ?? null,
    terms: [...termsOf(result), ...hostTermsOf(result.host)],
  };
}

function rowFilterOf(filter: ResultFilter): RowFilter {
  switch (filter.by) {
    case 'all':
      return { by: 'all' };
    case 'url':
      return { by: 'url', urlKeys: wantedUrlKeys(filter) };
    case 'host':
      return { by: 'host', ranges: hostRanges(filter.host) };
  }
}
