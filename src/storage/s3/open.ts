import type { ObjectStoreConfig } from '../../config/slices.ts';
import type { ArtifactStore, LocalStore } from '../ports/artifact-store.ts';
import type { Database } from '../ports/database.ts';
import type { OpenArtifacts } from '../ports/open-artifacts.ts';
import { openRemote } from '../remote/open-remote.ts';
import { createS3Client, type S3Client } from './client.ts';
import { credentialSource } from './credentials.ts';
import { createS3Store } from './s3-store.ts';
import { createSweep } from './sweep.ts';

interface OpenS3Options {
  readonly options: Partial<ObjectStoreConfig>;
  readonly local: LocalStore;
  readonly database: Pick<Database, 'isShared' | 'lock'>;
  /** Called with failures of background work. */
  readonly onProblem: (problem: unknown) => void;
}

export function s3ClientOf(options: Partial<ObjectStoreConfig>, onProblem?: (problem: unknown) => void): S3Client {
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
    onProblem,
  });
}

/** Opens the store for reading. */
export function openS3Store(options: Partial<ObjectStoreConfig>): ArtifactStore {
  return createS3Store(s3ClientOf(options), options.s3Presign);
}

export function openS3({ options, local, database, onProblem }: OpenS3Options): OpenArtifacts {
  const client = s3ClientOf(options, onProblem);
  const sweep = createSweep({ client, lock: () => database.lock('artifacts.sweep'), onProblem });
  const remote = createS3Store(client, options.s3Presign);
  // Other processes of a shared database read a capture as soon as its record is there.
  const opened = openRemote({ remote, local, sweep, database, later: !database.isShared });
  return { ...opened, stop: () => opened.stop().finally(client.close) };
}
