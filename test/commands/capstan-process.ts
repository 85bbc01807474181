import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const BIN = join(import.meta.dirname, '../../bin/capstan.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Limit of open file descriptors (`ulimit -n`). */
  readonly descriptors?: number;
}

/**
 * Runs `capstan` to its end as a user would: in a process of its own, through `bin`, without inherited CAPSTAN_
 * variables.
 */
export async function capstan(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { child, stdout, stderr } = start(args, options);
  child.stdin?.end(options.stdin ?? '');
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, stdout: await stdout, stderr: await stderr };
}

export interface Served {
  readonly child: ChildProcess;
  /** The URL from the ready line. */
  readonly url: string;
  /** The whole output, once the process has ended. */
  readonly ended: Promise<Ended>;
}

/** Starts `capstan serve` on a free port and resolves when it is ready. Rejects with its output when it ends before. */
export async function serve(args: readonly string[], options: RunOptions = {}): Promise<Served> {
  const { child, stdout, stderr } = start(['serve', '--port', '0', ...args], options);
  child.stdin?.end();
  const ended = once(child, 'close').then(
    async ([code]): Promise<Ended> => ({ code, stdout: await stdout, stderr: await stderr }),
  );
  const url = await new Promise<string>((resolve, reject) => {
    let seen = '';
    child.stdout?.on('data', (chunk) => {
      seen += String(chunk);
      const [, address] = /^capstan listening on (http:\S+)\n/m.exec(seen) ?? [];
      if (address !== undefined) resolve(address);
    });
    void ended.then(({ code, stderr: said }) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
  return { child, url, ended };
}

function start(args: readonly string[], { env = {}, cwd, descriptors }: RunOptions) {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('CAPSTAN_'));
  const options = { cwd, env: { ...Object.fromEntries(ours), ...env } };
  const child =
    descriptors === undefined
      ? spawn(process.execPath, [BIN, ...args], options)
      : spawn('sh', ['-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, process.execPath, BIN, ...args], options);
  return { child, stdout: text(child.stdout), stderr: text(child.stderr) };
}

/** A directory for one test: working directory and temporary directory of the process. */
export interface Ground extends AsyncDisposable {
  readonly path: string;
  /** Options that keep all files of the process in this directory. */
  readonly options: { readonly cwd: string; readonly env: { readonly TMPDIR: string } };
  /** Command lines of the running browser processes that were started from here. */
  browsers(): Promise<readonly string[]>;
}

export async function ground(): Promise<Ground> {
  const path = await mkdtemp(join(tmpdir(), 'capstan-test-'));
  return {
    path,
    options: { cwd: path, env: { TMPDIR: path } },
    browsers: () => processesThatName(path),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** The command line of a browser names its profile, which is in the temporary directory. */
async function processesThatName(path: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(path));
}
