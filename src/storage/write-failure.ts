import { CapstanError } from '../capture/errors.ts';
import { codeOf } from './system-error.ts';

/** No space, quota or inodes, or a limit on file size: conditions that end when somebody makes room. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Returns the error for clients when files cannot be written. */
export function writeFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  return FULL.has(codeOf(error) ?? '')
    ? new CapstanError('storage_full', undefined, { cause: error })
    : new CapstanError('internal', undefined, { cause: error });
}
