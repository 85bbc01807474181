import type { Evidence } from '../../capture/evidence.ts';
import type { Result } from '../../capture/result.ts';
import { isConditional } from '../../capture/result-conditions.ts';
import type { Keyset, Likeness, ResultFilter, ResultStore, StoreState } from '../ports/result-store.ts';
import { gatherInserts } from '../records/gathered-inserts.ts';
import { type HostRange, hostRanges } from '../records/hosts.ts';
import { asDetailed, asRecord, placeOf, startOf, timeOf, urlKey, urlKeysOf, wantedUrlKeys } from '../records/record.ts';
import { hostTermsOf, termsOf, wantedTerms } from '../records/terms.ts';
import type { AskFor } from './calls.ts';

/** A record as the worker writes it: the indexed columns, and the whole as JSON. */
export interface Row {
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly probedAt: number;
  readonly host: string;
  readonly urlKey: Uint8Array;
  /** Key of the final URL; null where it is the same. */
  readonly finalUrlKey: Uint8Array | null;
  readonly record: string;
  /** JSON. */
  readonly evidence: string | null;
  readonly perceptionHash: string | null;
  /** Name of the API key that requested the capture. */
  readonly apiKeyName: string | null;
  /** Terms of lists with conditions, without those of its URLs. */
  readonly terms: readonly string[];
}

/** A record and its evidence; JSON. */
export interface DetailedRow {
  readonly record: string;
  readonly evidence: string | null;
}

export interface SimilarRow {
  readonly record: string;
  readonly distance: number;
}

export type RowFilter =
  | { readonly by: 'all' }
  | { readonly by: 'url'; readonly urlKeys: readonly Uint8Array[] }
  | { readonly by: 'host'; readonly ranges: readonly HostRange[] };

/** Records of a list that have all terms and are not older than a time, in milliseconds since the Unix epoch. */
export interface FilteredRows {
  readonly filter: RowFilter;
  readonly terms: readonly string[];
  readonly from: number | null;
}

/** A position in a list, after which the next rows come. */
export interface Place {
  readonly probedAt: number;
  readonly id: number;
}

export interface ResultCalls {
  insert: { args: { readonly rows: readonly Row[] }; answer: null };
  get: { args: { readonly id: number }; answer: DetailedRow | null };
  page: { args: { readonly filter: RowFilter; readonly limit: number; readonly place: Place }; answer: string[] };
  delete: { args: { readonly ids: readonly number[] }; answer: number };
  oldest: { args: { readonly limit: number; readonly before: number; readonly after: number }; answer: number[] };
}

/** Calls that may take long: the worker answers other calls meanwhile. */
export interface SearchCalls {
  similar: { args: { readonly likeness: Likeness; readonly limit: number }; answer: SimilarRow[] };
  filteredPage: {
    args: { readonly rows: FilteredRows; readonly limit: number; readonly place: Place };
    answer: string[];
  };
}

export interface SqliteResults {
  readonly store: ResultStore;
  /** Resolves when no insert is running. */
  idle(): Promise<void>;
}

/** The port to the results, through the worker thread. */
export function sqliteResults(
  ask: AskFor<ResultCalls & SearchCalls>,
  thread: { readonly state: StoreState },
): SqliteResults {
  const inserts = gatherInserts<Row>((rows) => ask('insert', { rows }));
  const pageOf = (filter: ResultFilter, limit: number, after: Keyset | undefined) => {
    const { where = {}, ofKey } = filter;
    const rows = rowFilterOf(filter);
    if (!isConditional(where) && ofKey === undefined)
      return ask('page', { filter: rows, limit, place: placeOf(after) });
    const from = where.from === undefined ? null : timeOf(where.from);
    return ask('filteredPage', {
      rows: { filter: rows, terms: wantedTerms(where, ofKey), from },
      limit,
      place: placeOf(startOf(where, after)),
    });
  };
  const store: ResultStore = {
    kind: 'sqlite',
    get state() {
      return thread.state;
    },
    insert: async (result, evidence = null) => inserts.insert(rowOf(result, evidence)),
    get: async (id) => {
      const row = await ask('get', { id });
      if (row === null) return undefined;
      return asDetailed(JSON.parse(row.record), row.evidence === null ? null : JSON.parse(row.evidence));
    },
    page: async (filter, limit, after) => {
      const records = await pageOf(filter, limit, after);
      return records.map((record) => asRecord(JSON.parse(record)));
    },
    similar: async (likeness, limit) => {
      const rows = await ask('similar', { likeness, limit });
      return rows.map(({ record, distance }) => ({ ...asRecord(JSON.parse(record)), distance }));
    },
    delete: (ids) => ask('delete', { ids }),
    oldest: (limit, before, after = 0) => ask('oldest', { limit, before, after }),
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
