import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { makeDirectory } from './temporary-directory.ts';

const MODULE = join(import.meta.dirname, 'busy-files.ts');

/** Loads the module again: the turn of this file belongs to the module of its process. */
async function ownTurns(): Promise<typeof import('./busy-files.ts')> {
  onTestFinished(() => void vi.unstubAllEnvs());
  return import(`${MODULE}?${crypto.randomUUID()}`);
}

it('rejects when the run ends before the turn of a file', async () => {
  const { turnOf } = await ownTurns();
  const path = join(await makeDirectory(), 'socket');
  const server = createServer((file) => file.end().resume()).listen(path);
  onTestFinished(() => void server.close());
  vi.stubEnv('BUSY_FILES_SOCKET', path);
  await expect(turnOf('some.test.ts')).rejects.toThrow('the run ended before the turn of some.test.ts');
});

it('gives files their turns after a test that left TMPDIR changed', async () => {
  const { setup, turnOf } = await ownTurns();
  vi.stubEnv('BUSY_FILES_SOCKET', '');
  vi.stubEnv('TMPDIR', await makeDirectory());
  const stop = setup();
  vi.stubEnv('TMPDIR', await makeDirectory());
  const endTurn = await turnOf('some.test.ts');
  endTurn();
  stop();
});
