import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { BIN } from '../support/package.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

/** Flags of a service that captures nothing. */
export const NO_BROWSER = ['--browser-path', '/nonexistent/chromium'];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Soft limit of open file descriptors (`ulimit -n`). */
  readonly descriptors?: number;
  /** File descriptor for the output, instead of a pipe that the test reads. */
  readonly stdoutFd?: number;
  readonly stderrFd?: number;
  /** The command, by default of the built package. */
  readonly bin?: string;
  /** Program and arguments that execute the command line that is appended to them. */
  readonly through?: readonly string[];
}

/**
 * Runs `capstan` as a user would until it exits: in its own process, through `bin`, without inherited CAPSTAN_
 * variables.
 */
export async function capstan(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { child, stdout, stderr } = launch(args, options);
  child.stdin?.end(options.stdin ?? '');
  const [code] = await once(child, 'close');
  return { code: typeof code === 'number' ? code : null, stdout: await stdout, stderr: await stderr };
}

export interface Served {
  readonly child: ChildProcess;
  /** The URL of the ready line. */
  readonly url: string;
  /** Resolves with the whole output when the process has ended. */
  readonly ended: Promise<Ended>;
}

/** Starts `capstan serve` on a free port and resolves when it is ready. Rejects with its output if it exits before. */
export async function serve(args: readonly string[], options: RunOptions = {}): Promise<Served> {
  const { child, stdout, stderr } = launch(['serve', '--port', '0', ...args], options);
  child.stdin?.end();
  const ended = once(child, 'close').then(
    async ([code]): Promise<Ended> => ({ code, stdout: await stdout, stderr: await stderr }),
  );
  const failed = ended.then(({ code, stderr: said }): never => {
    throw new Error(`it ended with ${code}: ${said}`);
  });
  const url = await Promise.race([lineOf(child.stdout, /^capstan listening on (http:\S+)\n/m), failed]);
  return { child, url, ended };
}

/** Resolves with the first group of the pattern as soon as the stream matches it. */
export function lineOf(stream: Readable | null, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let seen = '';
    stream?.on('data', (chunk) => {
      seen += String(chunk);
      const [, found] = pattern.exec(seen) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}

/** Starts `capstan` without the CAPSTAN_ variables of the test process. */
export function launch(
  args: readonly string[],
  { env = {}, cwd, descriptors, stdoutFd, stderrFd, bin = BIN, through = [] }: RunOptions,
) {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('CAPSTAN_'));
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
  const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...through, process.execPath, bin, ...args], {
    cwd,
    env: { ...Object.fromEntries(ours), ...env },
    stdio: ['pipe', stdoutFd ?? 'pipe', stderrFd ?? 'pipe'],
  });
  return { child, stdout: read(child.stdout), stderr: read(child.stderr) };
}

function read(stream: Readable | null): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

/** A directory for one test: the working directory and temporary directory of the process. */
export interface Ground {
  readonly path: string;
  /** Options that keep all files of the process in this directory. */
  readonly options: { readonly cwd: string; readonly env: { readonly TMPDIR: string } };
  /**
   * Returns the command lines of the running browser processes that were started from this directory. A process
   * that was killed takes a moment to end.
   */
  browsers(): Promise<readonly string[]>;
}

export async function ground(): Promise<Ground> {
  const path = await makeDirectory();
  return {
    path,
    options: { cwd: path, env: { TMPDIR: path } },
    browsers: () => processesThatName(path),
  };
}

/** Returns the command lines that contain the path. A browser's contains its profile in the temporary directory. */
async function processesThatName(path: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(path));
}
