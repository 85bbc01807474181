import { once } from 'node:events';
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../test/commands/capstan-process.ts';
import { type Capture, captureClient } from './capture-client.ts';

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

export interface ServiceProcess {
  readonly origin: string;
  readonly pid: number;
  readonly capture: Capture;
  /** Bytes on disk: images and HTML snapshots. */
  artifactBytes(): Promise<{ images: number; htmlCopies: number }>;
  /** Sends SIGTERM; resolves when the process has ended and its files are removed. */
  stop(): Promise<void>;
}

/** Starts `capstan serve` with its own store and data directory, without logs. */
export async function startServiceProcess({
  browserPath,
  checkout,
  database,
  args = [],
  env = {},
}: ServiceOptions): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
  const dataDir = join(folder, 'data');
  const nowhere = await open('/dev/null', 'w');
  const { child, url: origin } = await serve(
    [
      ...['--data-dir', dataDir, '--allow-targets', '127.0.0.1/32', '--browser-path', browserPath],
      ...(database ?? ['--db-path', join(folder, 'results.db')]),
      ...args,
    ],
    {
      bin: join(checkout ?? join(import.meta.dirname, '../..'), 'bin/capstan.js'),
      cwd: folder,
      env,
      stderrFd: nowhere.fd,
    },
  ).finally(() => nowhere.close());
  const { pid } = child;
  if (pid === undefined) throw new Error('the service has no process');
  const client = captureClient(origin);

  return {
    origin,
    pid,
    capture: client.capture,
    artifactBytes: () => bytesByKind(dataDir),
    async stop() {
      client.close();
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function bytesByKind(folder: string): Promise<{ images: number; htmlCopies: number }> {
  let images = 0;
  let htmlCopies = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { size } = await stat(join(entry.parentPath, entry.name));
    if (entry.name.endsWith('.png')) images += size;
    if (entry.name.endsWith('.html')) htmlCopies += size;
  }
  return { images, htmlCopies };
}
