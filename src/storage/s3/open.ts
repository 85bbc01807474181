import type { Backend } from '../remote/backend.ts';
import { s3Backend } from './backend.ts';
import { createS3Client, type S3Client } from './client.ts';
import { credentialSource } from './credentials.ts';

/** The options of the object store, as the configuration names them. */
export interface S3Options {
  readonly s3Bucket: string | null;
  /** Null: that of Amazon in the region. */
  readonly s3Endpoint: string | null;
  readonly s3Region: string;
  readonly s3Prefix: string;
  readonly s3Addressing: 'auto' | 'path' | 'virtual';
  /** For how long URLs of images are valid, in seconds; null: the service sends images itself. */
  readonly s3Presign: number | null;
  /** Null: those of the environment. */
  readonly s3AccessKey: string | null;
  readonly s3SecretKey: string | null;
}

/** `onProblem`: called with failures of requests. */
export function s3ClientOf(options: Partial<S3Options>, onProblem?: (problem: unknown) => void): S3Client {
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

export function openS3(options: Partial<S3Options>, onProblem?: (problem: unknown) => void): Backend {
  return s3Backend(s3ClientOf(options, onProblem), options.s3Presign);
}
