import { chmodSync, closeSync, openSync } from 'node:fs';
import { codeOf } from '../system-error.ts';

/*
 * What is stored is nobody else's: requests hold credentials, and the browsers run as another user of the same machine.
 */

export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/** A file system without permissions, or a file of another user: nothing that a start could repair. */
const NOT_OURS = new Set(['EPERM', 'ENOTSUP', 'EROFS', 'ENOENT']);

/** Creates an empty private file, or makes an existing one private, before SQLite opens it. */
export function touchPrivateSync(file: string): void {
  closeSync(openSync(file, 'a', PRIVATE_FILE));
  makePrivateSync(file, PRIVATE_FILE);
}

/** Repairs the mode of what an earlier version or an operator created. A file that is missing is no error. */
export function makePrivateSync(path: string, mode: typeof PRIVATE_FILE | typeof PRIVATE_DIRECTORY): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!NOT_OURS.has(codeOf(error) ?? '')) throw error;
  }
}
