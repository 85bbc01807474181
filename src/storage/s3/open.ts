import type { ObjectStoreConfig } from '../../config/slices.ts';
import type { Backend } from '../remote/backend.ts';
import { s3Backend } from './backend.ts';
import { createS3Client, type S3Client } from './client.ts';
import { credentialSource } from './credentials.ts';

/** `onProblem`: called with failures of requests. */
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

export function openS3(options: Partial<ObjectStoreConfig>, onProblem?: (problem: unknown) => void): Backend {
  return s3Backend(s3ClientOf(options, onProblem), options.s3Presign);
}
