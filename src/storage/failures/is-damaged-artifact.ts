import { CapstanError } from '../../capture/errors.ts';

/** Returns whether an operation failed because a part of a stored capture is gone or cannot be read. */
export function isDamagedArtifact(error: unknown): boolean {
  return error instanceof CapstanError && error.code === 'artifact_damaged';
}
