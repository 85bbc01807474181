import type { LocalStore } from '../ports/artifact-store.ts';
import type { HeldLock } from '../ports/lock.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import { createUploads } from '../remote/uploads.ts';
import { withCopies } from '../remote/with-copies.ts';
import { createS3Client, type S3Client } from './client.ts';
import { credentialSource } from './credentials.ts';
import { createS3Store } from './s3-store.ts';
import { createSweep } from './sweep.ts';

/** The options of the object store, as the configuration names them. */
export interface S3Options {
  readonly s3Bucket: string | null;
  /** Null: that of Amazon in the region. */
  readonly s3Endpoint: string | null;
  readonly s3Region: string;
  readonly s3Prefix: string;
  readonly s3Addressing: 'auto' | 'path' | 'virtual';
  /** Null: those of the environment. */
  readonly s3AccessKey: string | null;
  readonly s3SecretKey: string | null;
}

export interface OpenS3Options {
  readonly options: Partial<S3Options>;
  /** The store of the data directory, in which captures wait for delivery. */
  readonly local: LocalStore;
  /** Takes a lock among the processes that share the bucket. */
  readonly lock: (name: string) => Promise<HeldLock | undefined>;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

export function s3ClientOf(options: Partial<S3Options>): S3Client {
  const { s3Bucket = null, s3Endpoint: endpoint = null, s3Region: region = 'us-east-1', s3Prefix = '' } = options;
  const { s3Addressing = 'auto', s3AccessKey: accessKey = null, s3SecretKey: secretKey = null } = options;
  if (s3Bucket === null) throw new Error('artifacts in an object store need a bucket');
  return createS3Client({
    endpoint,
    bucket: s3Bucket,
    region,
    prefix: s3Prefix === '' || s3Prefix.endsWith('/') ? s3Prefix : `${s3Prefix}/`,
    pathStyle: s3Addressing === 'auto' ? endpoint !== null : s3Addressing === 'path',
    credentials: credentialSource({ accessKey, secretKey }),
  });
}

/** Opens the store and starts to delete, in the background, images that no capture names. */
export function openS3({ options, local, lock, onProblem }: OpenS3Options): OpenArtifacts {
  const client = s3ClientOf(options);
  const remote = createS3Store(client);
  const sweep = createSweep({ client, lock: () => lock('artifacts.sweep'), onProblem });
  sweep.start();
  return {
    artifacts: withCopies(remote, local),
    copies: createUploads(local, remote),
    lock: () => lock('retention').catch(() => undefined),
    stop: async () => {
      await sweep.stop();
      client.close();
    },
  };
}
