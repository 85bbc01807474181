import { chmodSync, closeSync, openSync } from 'node:fs';
import { codeOf } from '../../capture/basics/error-code.ts';

/* Stored files are private: requests contain credentials, and the browsers run as another user of the same machine. */

export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

/** Codes of modes that cannot be repaired, as on a file system without permissions, or on another user's file. */
const NOT_OURS = new Set(['EPERM', 'ENOTSUP', 'EROFS', 'ENOENT']);

/** Creates an empty private file, or makes an existing one private, before SQLite opens it. */
export function touchPrivateSync(file: string): void {
  closeSync(openSync(file, 'a', PRIVATE_FILE));
  makePrivateSync(file, PRIVATE_FILE);
}

/** Repairs the mode of files that an operator created. A missing file is not an error. */
export function makePrivateSync(path: string, mode: typeof PRIVATE_FILE | typeof PRIVATE_DIRECTORY): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!NOT_OURS.has(codeOf(error) ?? '')) throw error;
  }
}
