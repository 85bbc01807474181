import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty directory, which is removed at the end of the run: see `one-temporary-directory.ts`. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'test-'));
  // Browsers of a service that runs as root run as another user.
  await chmod(directory, 0o755);
  return directory;
}
