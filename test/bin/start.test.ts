import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { lineOf } from '../commands/capstan-process.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');

it('stops the service when npm start receives SIGTERM', async () => {
  const directory = await makeDirectory();
  const places = ['--data-dir', join(directory, 'data'), '--db-path', join(directory, 'results.db')];
  // A process group of its own, so that a failed test can end all of it.
  const npm = spawn('npm', ['start', '--', '--port', '0', ...places], { cwd: ROOT, detached: true, stdio: 'pipe' });
  onTestFinished(async () => {
    try {
      process.kill(-(npm.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // The group has ended.
    }
  });
  const said = text(npm.stderr);
  await lineOf(npm.stdout, /^capstan listening on (http:\S+)\n/m);
  npm.kill('SIGTERM');
  // The pipes close when neither npm nor the service is left.
  await once(npm, 'close');
  expect(await said).toContain('stopped');
});
