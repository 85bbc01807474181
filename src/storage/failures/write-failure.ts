import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';

/** Codes for no space, quota or inodes, or a file size limit. Such a failure ends when space is freed. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * The failure that a client gets when the data directory cannot be written. Names no path; the cause is for the log.
 */
export function writeFailure(error: unknown): CapstanError {
  if (error instanceof CapstanError) return error;
  const code = codeOf(error);
  if (code === undefined) return new CapstanError('internal', undefined, { cause: error });
  return FULL.has(code)
    ? new CapstanError('storage_full', undefined, { cause: error })
    : new CapstanError('storage_unavailable', `The data directory cannot be written (${code}).`, { cause: error });
}

/** Whether nothing can be stored at all, as opposed to a defect that concerns one capture. */
export function isStoreFailure(error: unknown): error is CapstanError {
  return error instanceof CapstanError && (error.code === 'storage_full' || error.code === 'storage_unavailable');
}
