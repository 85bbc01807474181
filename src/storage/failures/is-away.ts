import { CapstanError } from '../../capture/errors.ts';

/** Returns whether an operation failed because the database cannot be reached now, so that it may be retried. */
export function isAway(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'database_unavailable';
}

/** Runs a check of the start. When the database goes away meanwhile there is nothing to check, and the start goes on. */
export async function unlessAway(check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}
