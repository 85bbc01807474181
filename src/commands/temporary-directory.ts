import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a directory that only this user can enter. It is removed at the end of the process. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
