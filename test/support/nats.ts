import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';
import { makeDirectory } from './temporary-directory.ts';

/** A real NATS server with JetStream for one suite. */
export interface NatsServer {
  /** Process id of the server that runs now. */
  readonly pid: number;
  /** `nats://127.0.0.1:<port>` */
  readonly url: string;
  /** Directory in which JetStream keeps its data. */
  readonly directory: string;
  /** Ends the server with `kill -9`; its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Kills it and removes its data. */
  remove(): Promise<void>;
}

/**
 * Returns the reason why NATS cannot run here, or undefined when it can: NATS_SERVER_BINARY names the server, else it
 * is searched on the PATH. With CI=true a missing server is a failure, not a reason to skip.
 */
export async function whyNoNats(): Promise<string | undefined> {
  const binary = await natsBinary();
  if (binary !== undefined) return undefined;
  const reason = 'there is no nats-server on the PATH, and NATS_SERVER_BINARY names none';
  if (process.env.CI === 'true') throw new Error(`no NATS for the tests: ${reason}`);
  return reason;
}

/** `flags`: further command-line options, such as those of users and passwords. */
export async function startNats(flags: readonly string[] = []): Promise<NatsServer> {
  const directory = await makeDirectory();
  const first = await launchAnywhere(directory, flags);
  const { port } = first;
  let { running } = first;
  const kill = async () => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'close');
    running.kill('SIGKILL');
    await ended;
  };
  return {
    get pid() {
      return running.pid ?? Number.NaN;
    },
    url: `nats://127.0.0.1:${port}`,
    directory,
    kill,
    start: async () => {
      running = await launch(directory, port, flags);
    },
    remove: async () => {
      await kill();
    },
  };
}

/** Starts a server on a free port. Another process may take the port meanwhile: then it is another one. */
async function launchAnywhere(directory: string, flags: readonly string[]) {
  for (;;) {
    const port = await freePort();
    try {
      return { port, running: await launch(directory, port, flags) };
    } catch (error) {
      if (!String(error).includes('address already in use')) throw error;
    }
  }
}

async function launch(directory: string, port: number, flags: readonly string[]): Promise<ChildProcess> {
  const binary = (await natsBinary()) ?? 'nats-server';
  const args = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', directory, ...flags];
  const child = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`nats-server ended with ${code}: ${said}`)));
    child.stderr?.on('data', (chunk) => {
      said += String(chunk);
      if (said.includes('Server is ready')) resolve();
    });
  });
  // Its log is not kept, and must not fill the pipe.
  child.stderr?.removeAllListeners('data').resume();
  child.removeAllListeners('close').on('error', () => {});
  return child;
}

async function natsBinary(): Promise<string | undefined> {
  const named = process.env.NATS_SERVER_BINARY;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const candidates = named === undefined ? folders.map((folder) => join(folder, 'nats-server')) : [named];
  for (const candidate of candidates) {
    const isThere = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  return undefined;
}
