import { CapstanError } from '../../capture/errors.ts';

/** Returns whether an operation failed because the database cannot be reached now, so that it may be retried. */
export function isAway(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'database_unavailable';
}

/** Runs a check of the start. If the database goes away meanwhile, nothing is checked and the start continues. */
export async function unlessAway(check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}
