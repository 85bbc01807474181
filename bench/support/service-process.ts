import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
  const child = spawn(
    process.execPath,
    [
      join(checkout ?? join(import.meta.dirname, '../..'), 'bin/capstan.js'),
      ...['serve', '--port', '0', '--data-dir', dataDir],
      ...(database ?? ['--db-path', join(folder, 'results.db')]),
      ...['--allow-targets', '127.0.0.1/32', '--browser-path', browserPath, ...args],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'], cwd: folder, env: { ...process.env, ...env } },
  );
  const { pid, stdout } = child;
  if (pid === undefined || stdout === null) throw new Error('the service has no process');
  const origin = await readyAddress(stdout, once(child, 'exit'));
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

async function readyAddress(output: NodeJS.ReadableStream, exit: Promise<unknown[]>): Promise<string> {
  const ready = async () => {
    for await (const line of createInterface(output)) {
      const address = /\bhttp:\/\/\S+/.exec(line)?.[0];
      if (address !== undefined) return address.replace(/\/$/, '');
    }
    throw new Error('the service ended before it was ready');
  };
  const ended = exit.then(([code]): never => {
    throw new Error(`the service ended with ${code} before it was ready`);
  });
  // Once the service is ready, its end is expected.
  ended.catch(() => {});
  return await Promise.race([ready(), ended]);
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
