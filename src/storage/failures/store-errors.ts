import { CapstanError } from '../../capture/errors.ts';

/** Returns whether an operation failed because a store cannot be reached now, so that it may be retried. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof CapstanError)) return false;
  return error.code === 'database_unavailable' || error.code === 'artifacts_unavailable';
}

/** Runs a check of the start. If the database goes away meanwhile, nothing is checked and the start continues. */
export async function unlessAway(check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}

/** Returns whether an operation failed because a part of a stored capture is gone or cannot be read. */
export function isDamagedArtifact(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'artifact_damaged';
}

/** Returns null for a stored capture that cannot be read; throws any other error. */
export function nullIfDamaged(error: unknown): null {
  if (isDamagedArtifact(error)) return null;
  throw error;
}
