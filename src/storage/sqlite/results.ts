import type { StoredRecord } from '../../capture/result/result.ts';
import type { ResultStore, StoreState } from '../ports/result-store.ts';
import { gatherInserts } from '../records/gathered-inserts.ts';
import type { Remote } from './remote.ts';
import type { ResultTable } from './result-table.ts';

interface SqliteResults {
  readonly store: ResultStore;
  /** Resolves when no insert is running. */
  idle(): Promise<void>;
}

/** The port to the results, through the worker thread. */
export function sqliteResults(table: Remote<ResultTable>, thread: { readonly state: StoreState }): SqliteResults {
  const inserts = gatherInserts<StoredRecord>((results) => table.insert(results));
  const store: ResultStore = {
    kind: 'sqlite',
    get state() {
      return thread.state;
    },
    insert: async (record) => inserts.insert({ evidence: null, ...record }),
    wordsOf: table.wordsOf,
    addWords: table.addWords,
    indexed: table.indexed,
    get: table.get,
    records: table.records,
    keyOf: table.keyOf,
    page: table.page,
    similar: table.similar,
    mark: table.mark,
    marked: table.marked,
    delete: table.delete,
    oldest: table.oldest,
  };
  return { store, idle: () => inserts.idle() };
}
