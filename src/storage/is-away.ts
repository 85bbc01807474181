import { CapstanError } from '../capture/errors.ts';

/** Returns whether an operation failed because the database cannot be reached now, so that it may be retried. */
export function isAway(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'database_unavailable';
}
