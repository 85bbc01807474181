import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty directory, which is removed at the end of the run: see `one-temporary-directory.ts`. */
export function makeDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'test-'));
}
