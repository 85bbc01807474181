import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDirectory } from './temporary-directory.ts';

const MODULE = join(import.meta.dirname, 'one-temporary-directory.ts');
/** A run with a server, which outlives it. */
const RUN = `
  const { spawn } = await import('node:child_process');
  const { setup } = await import(${JSON.stringify(MODULE)});
  const remove = setup();
  const args = ['--eval', 'setInterval(() => {}, 1000)', process.env.TMPDIR];
  const server = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
  process.stdout.write(server.pid + ' ' + process.env.TMPDIR);
  process.stdin.on('data', () => process.exit(remove()))`;

it('a run removes its own directory and those of killed runs, whose processes it ends, and no other', async () => {
  const parent = await makeDirectory();
  const start = async () => {
    const child = spawn(process.execPath, ['--no-warnings', '--eval', RUN], {
      env: { ...process.env, TMPDIR: parent },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [pid = '', directory = ''] = String((await once(child.stdout, 'data'))[0]).split(' ');
    return { child, server: Number(pid), name: basename(directory) };
  };
  const [killed, running] = [await start(), await start()];
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  expect((await readdir(parent)).toSorted()).toEqual([killed.name, running.name].toSorted());
  const next = await start();
  expect((await readdir(parent)).toSorted()).toEqual([running.name, next.name].toSorted());
  await expect.poll(() => commandOf(killed.server)).toBe('');
  for (const { child, server } of [running, next]) {
    child.stdin.write('stop');
    await once(child, 'close');
    expect(process.kill(server, 'SIGKILL')).toBe(true);
  }
  expect(await readdir(parent)).toEqual([]);
});

/** Returns an empty text when the process has ended, whether or not its parent knows. */
function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
