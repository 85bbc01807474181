import { CapstanError } from '../capture/errors.ts';
import { createMemoryIdempotency } from './idempotency-store.ts';
import { createDisabledJobs } from './job-store.ts';
import type { ResultStore } from './result-store.ts';

/** What stands in for a database when the service was started without one. */
export function createDisabledStore(): ResultStore {
  const refuse = () => Promise.reject(new CapstanError('database_not_enabled'));
  return {
    kind: 'none',
    state: 'off',
    idempotency: createMemoryIdempotency(),
    jobs: createDisabledJobs(),
    insert: refuse,
    get: refuse,
    page: refuse,
    similar: refuse,
    delete: refuse,
    oldest: refuse,
    claimNode: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}
