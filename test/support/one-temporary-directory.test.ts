import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeDirectory } from './temporary-directory.ts';

const MODULE = join(import.meta.dirname, 'one-temporary-directory.ts');
const FOREVER = 'setInterval(() => {}, 1000)';
/** A run with a server, which outlives it. */
const RUN = `
  const { spawn } = await import('node:child_process');
  const { setup } = await import(${JSON.stringify(MODULE)});
  const remove = await setup();
  const server = spawn(process.execPath, ['--eval', '${FOREVER}'], { detached: true, stdio: 'ignore' });
  process.stdout.write(server.pid + ' ' + process.env.TMPDIR);
  process.stdin.on('data', () => process.exit(remove()))`;

/** Starts a run below a directory. */
const start = (parent: string) => started([process.execPath, '--no-warnings', '--eval', RUN], parent);

async function started([command = '', ...args]: readonly string[], TMPDIR: string) {
  const child = spawn(command, args, { env: { ...process.env, TMPDIR }, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [pid = '', directory = ''] = String((await once(child.stdout, 'data'))[0]).split(' ');
  onTestFinished(() => end(Number(pid)));
  return { child, server: Number(pid), directory };
}

async function killed(parent: string) {
  const run = await start(parent);
  run.child.kill('SIGKILL');
  await once(run.child, 'close');
  return run;
}

it('a run removes its own directory and those of killed runs, whose processes it ends, and no other', async () => {
  const parent = await makeDirectory();
  const [running, left] = [await start(parent), await killed(parent)];
  expect(await readdir(parent)).toHaveLength(2);
  const next = await start(parent);
  expect((await readdir(parent)).toSorted()).toEqual(
    [basename(running.directory), basename(next.directory)].toSorted(),
  );
  if (process.platform === 'linux') await expect.poll(() => commandOf(left.server)).toBe('');
  for (const { child, server } of [running, next]) {
    child.stdin.write('stop');
    await once(child, 'close');
    expect(process.kill(server, 0)).toBe(true);
  }
  expect(await readdir(parent)).toEqual([]);
});

it('a run keeps the directory of a living run whose process id it does not see', async () => {
  const parent = await makeDirectory();
  const [running, left] = [await start(parent), await killed(parent)];
  // As in another container: the process id in the name is that of no process here.
  const name = basename(running.directory).replace(String(running.child.pid), String(left.child.pid));
  await rename(running.directory, join(parent, name));
  const next = await start(parent);
  expect((await readdir(parent)).toSorted()).toEqual([name, basename(next.directory)].toSorted());
});

it.skipIf(process.platform !== 'linux')(
  'a run ends neither readers of what a killed one left nor ancestors',
  async () => {
    const parent = await makeDirectory();
    const left = await killed(parent);
    const reader = spawn(process.execPath, ['--eval', FOREVER, left.directory], { stdio: 'ignore' });
    onTestFinished(() => void reader.kill('SIGKILL'));
    await once(reader, 'spawn');
    // The shell waits for the run, and was started with the temporary directory of the killed one.
    const script = 'TMPDIR="$1" "$2" --no-warnings --eval "$3"; exit 7';
    const next = await started(['sh', '-c', script, 'sh', parent, process.execPath, RUN], left.directory);
    expect(await readdir(parent)).toEqual([basename(next.directory)]);
    next.child.stdin.write('stop');
    expect(await once(next.child, 'close')).toEqual([7, null]);
    expect([reader.exitCode, reader.signalCode]).toEqual([null, null]);
  },
);

it('runs that start at once remove the directory of a killed one without a complaint', async () => {
  const parent = await makeDirectory();
  await killed(parent);
  const runs = await Promise.all([start(parent), start(parent), start(parent)]);
  expect((await readdir(parent)).toSorted()).toEqual(runs.map(({ directory }) => basename(directory)).toSorted());
});

/** Returns an empty text when the process has ended, whether or not its parent knows. */
function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
