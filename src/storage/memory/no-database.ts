import { CapstanError } from '../../capture/errors.ts';
import type { Database } from '../ports/database.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { QueryStore } from '../ports/query-store.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { WatchStore } from '../ports/watch-store.ts';
import { createOwnEventLog } from '../records/own-event-log.ts';
import { createMemoryIdempotency } from './idempotency.ts';

const refuse = () => Promise.reject(new CapstanError('database_not_enabled'));

const NO_RESULTS: ResultStore = {
  kind: 'none',
  state: 'off',
  insert: refuse,
  get: refuse,
  page: refuse,
  similar: refuse,
  delete: refuse,
  oldest: refuse,
};

const NO_JOBS: JobStore = {
  add: refuse,
  get: refuse,
  newest: refuse,
  results: refuse,
  take: refuse,
  renew: refuse,
  put: refuse,
  finish: refuse,
  release: refuse,
  cancel: refuse,
  prune: refuse,
};

const NO_WATCHES: WatchStore = {
  add: refuse,
  get: refuse,
  list: refuse,
  change: refuse,
  remove: refuse,
  take: refuse,
  renew: refuse,
  put: refuse,
  finish: refuse,
  release: refuse,
  runs: refuse,
  hasten: refuse,
};

const NO_QUERIES: QueryStore = {
  add: refuse,
  get: refuse,
  newest: refuse,
  deliver: refuse,
  acknowledge: refuse,
  pass: refuse,
  remove: refuse,
};

/** Takes the place of the database when the service runs without one. */
export function createNoDatabase(): Database {
  return {
    results: NO_RESULTS,
    jobs: NO_JOBS,
    watches: NO_WATCHES,
    queries: NO_QUERIES,
    idempotency: createMemoryIdempotency(),
    nodes: { claim: () => Promise.resolve(undefined) },
    eventLog: (options) => createOwnEventLog({ table: null, ...options }),
    close: () => Promise.resolve(),
  };
}
