import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe } from 'vitest';
import type { ArtifactStore } from '../../src/storage/ports/artifact-store.ts';
import { createRemoteStore } from '../../src/storage/remote/remote-store.ts';
import type { Sweep, SweepOptions } from '../../src/storage/remote/sweep.ts';
import { s3Backend } from '../../src/storage/s3/backend.ts';
import { createS3Client, type S3Client, type S3ClientOptions } from '../../src/storage/s3/client.ts';
import { sweepOver } from '../storage/remote-store.contract.ts';
import { freePort } from './free-port.ts';
import { makeDirectory } from './temporary-directory.ts';

/** A real object store. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Names of the buckets that `clientOf` has made. */
  readonly buckets: Set<string>;
  /** Ends it at once; its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
}

/** The options of a service that keeps captures in a bucket of the server. */
export function s3Options({ endpoint, accessKey, secretKey }: S3Server, bucket: string) {
  return {
    artifacts: 's3',
    s3Bucket: bucket,
    s3Endpoint: endpoint,
    s3AccessKey: accessKey,
    s3SecretKey: secretKey,
  } as const;
}

/** The same as flags. */
export function s3Flags({ endpoint, accessKey, secretKey }: S3Server, bucket: string): readonly string[] {
  const keys = ['--s3-access-key', accessKey, '--s3-secret-key', secretKey];
  return ['--artifacts', 's3', '--s3-endpoint', endpoint, '--s3-bucket', bucket, ...keys];
}

/** Returns a client of a bucket, and creates the bucket the first time. `changed`: other options of the configuration. */
export async function clientOf(
  server: S3Server,
  bucket: string,
  options: S3ClientOptions = {},
  changed: Parameters<typeof createS3Client>[0] = {},
): Promise<S3Client> {
  const config = s3Options(server, bucket);
  if (!server.buckets.has(bucket)) {
    const client = createS3Client(config);
    await client.send({ method: 'PUT', accepts: [409] });
    client.close();
    server.buckets.add(bucket);
  }
  return createS3Client({ ...config, ...changed }, options);
}

export function storeOf(client: S3Client): ArtifactStore {
  return createRemoteStore(s3Backend(client));
}

/** Returns a sweep without competitors, which takes nothing for too new. */
export function sweepOf(client: S3Client, options?: Partial<SweepOptions>): Sweep {
  return sweepOver(s3Backend(client), options);
}

/**
 * Starts the program that S3_SERVER_BINARY names: it takes a directory and a port, and writes S3_ENDPOINT,
 * S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and at last S3_READY_MS to standard output. `flags`: options of the program.
 */
export async function startS3(flags: readonly string[] = []): Promise<S3Server> {
  const binary = process.env.S3_SERVER_BINARY;
  if (binary === undefined) throw new Error('S3_SERVER_BINARY names no object store for the tests');
  const directory = await makeDirectory();
  const port = await freePort();
  let running: ChildProcess;
  const said = new Map<string, string>();
  const start = async () => {
    const args = [directory, String(port), ...flags];
    running = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(running, 'close').then(([code]) => Promise.reject(new Error(`the object store ended: ${code}`)));
    ended.catch(() => undefined);
    running.on('error', () => {});
    const ready = (async () => {
      for await (const line of createInterface({ input: running.stdout ?? process.stdin })) {
        const [name = '', value = ''] = line.split('=', 2);
        said.set(name, value);
        if (name === 'S3_READY_MS') return;
      }
    })();
    await Promise.race([ready, ended]);
  };
  await start();
  return {
    endpoint: said.get('S3_ENDPOINT') ?? '',
    accessKey: said.get('S3_ACCESS_KEY_ID') ?? '',
    secretKey: said.get('S3_SECRET_ACCESS_KEY') ?? '',
    buckets: new Set(),
    kill: async () => {
      if (running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
    start,
  };
}

/** Describes a suite with an object store of its own, which runs from its first test. Fails where there is none. */
export function describeWithS3(name: string, suite: (server: S3Server) => void, flags: readonly string[] = []): void {
  describe(name, () => {
    let started: S3Server | undefined;

    beforeAll(async () => {
      started = await startS3(flags);
    });

    afterAll(() => started?.kill());

    function server(): S3Server {
      if (started === undefined) throw new Error('the server runs from the first test on');
      return started;
    }

    suite({
      get endpoint() {
        return server().endpoint;
      },
      get accessKey() {
        return server().accessKey;
      },
      get secretKey() {
        return server().secretKey;
      },
      get buckets() {
        return server().buckets;
      },
      kill: () => server().kill(),
      start: () => server().start(),
    });
  });
}
