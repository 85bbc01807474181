import { CapstanError } from '../capture/errors.ts';

/** Whether it failed because the database cannot be reached now, and may be tried again. */
export function isAway(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'database_unavailable';
}
