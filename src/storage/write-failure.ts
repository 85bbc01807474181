import { CapstanError } from '../capture/errors.ts';
import { codeOf } from './system-error.ts';

/** No room, no quota, no inodes, or a limit on the size of a file: what goes away when somebody makes room. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a client is told when files cannot be written. */
export function writeFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  return FULL.has(codeOf(error) ?? '')
    ? new CapstanError('storage_full', undefined, { cause: error })
    : new CapstanError('internal', undefined, { cause: error });
}
