import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { BIN } from '../../test/support/package.ts';

export interface Service extends AsyncDisposable {
  readonly url: string;
  /** Ends the process with `kill -9`. */
  kill(): Promise<void>;
}

/**
 * Starts the service as a user would, in a process of its own, with these flags and more environment variables.
 * Disposing of it stops it and waits for its end.
 */
export async function startService(
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const child = spawn(process.execPath, [BIN, 'serve', '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  process.once('exit', () => child.kill('SIGTERM'));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^capstan listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    return { url, kill: () => end(child, 'SIGKILL'), [Symbol.asyncDispose]: () => end(child, 'SIGTERM') };
  }
  throw new Error('the service did not start; what it said stands above');
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

export async function getJson<T>(url: URL, schema: z.ZodType<T>, init: RequestInit = {}): Promise<T> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}: ${await response.text()}`);
  return schema.parse(await response.json());
}
