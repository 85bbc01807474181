import { CapstanError } from '../../capture/errors.ts';
import { storesIn } from '../documents/stores.ts';
import type { Database } from '../ports/database.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { UNCONTESTED } from '../ports/lock.ts';
import type { ResultStore } from '../ports/result-store.ts';
import { OwnEventLog } from '../records/own-event-log.ts';
import { createMemoryDocuments } from './documents.ts';

const refuse = () => Promise.reject(new CapstanError('database_not_enabled'));

const NO_RESULTS: ResultStore = {
  kind: 'none',
  state: 'off',
  insert: refuse,
  get: refuse,
  records: refuse,
  keyOf: refuse,
  page: refuse,
  similar: refuse,
  mark: refuse,
  marked: refuse,
  delete: refuse,
  oldest: refuse,
  wordsOf: refuse,
  addWords: refuse,
  indexed: refuse,
};

const NO_DOCUMENTS: DocumentStore = {
  now: refuse,
  list: refuse,
  usage: refuse,
  countBy: refuse,
  data: refuse,
  add: refuse,
  addWithin: refuse,
  replace: refuse,
  remove: refuse,
};

/** Takes the place of the database when the service runs without one. */
export function createNoDatabase(): Database {
  const memory = createMemoryDocuments();
  return {
    isMultiProcess: false,
    results: NO_RESULTS,
    ...storesIn(NO_DOCUMENTS),
    idempotency: memory.idempotency,
    nodes: { claim: () => Promise.resolve(undefined) },
    // The data directory has one process, which is the only one that knows the captures.
    lock: async () => UNCONTESTED,
    openDeliveries: memory.openDeliveries,
    eventLog: (options) => new OwnEventLog({ table: null, ...options }),
    close: memory.close,
  };
}
