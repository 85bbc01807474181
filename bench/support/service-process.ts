import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../test/commands/capstan-process.ts';
import { type AnsweredResult, capture } from '../../test/faults/client.ts';

export interface ServiceOptions {
  readonly browserPath: string;
  /** Folder of the checkout to start. @default this checkout */
  readonly checkout?: string;
  /** Options of its database. @default those of SQLite, in its own folder */
  readonly database?: readonly string[];
  /** More options of `capstan serve`. */
  readonly args?: readonly string[];
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Disposing it sends SIGTERM, and resolves when the process has ended and its files are removed. */
export interface ServiceProcess extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
  /** Sends `POST /screenshot`. Rejects when no image was stored. */
  capture(url: string, options?: Readonly<Record<string, unknown>>): Promise<AnsweredResult>;
}

/** Starts `capstan serve` with its own store and data directory, without logs. */
export async function startServiceProcess(options: ServiceOptions): Promise<ServiceProcess> {
  const { browserPath, checkout = join(import.meta.dirname, '../..'), args = [], env = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const nowhere = await open('/dev/null', 'w');
  const usual = ['--data-dir', join(folder, 'data'), '--allow-targets', '127.0.0.1/32', '--browser-path', browserPath];
  const database = options.database ?? ['--db-path', join(folder, 'results.db')];
  const started = serve([...usual, ...database, ...args], {
    bin: join(checkout, 'bin/capstan.js'),
    cwd: folder,
    env,
    stderrFd: nowhere.fd,
  });
  const { child, url: origin } = await started.finally(() => nowhere.close());
  const { pid } = child;
  if (pid === undefined) throw new Error('the service has no process');

  return {
    origin,
    pid,
    async capture(url, fields) {
      const { status, code, result } = await capture(origin, { url, ...fields });
      if (status !== 200 || result === null) throw new Error(`capstan answered ${status} ${code} for ${url}`);
      return result;
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
