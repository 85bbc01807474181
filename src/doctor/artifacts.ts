import { hash, randomUUID } from 'node:crypto';
import { errorText } from '../capture/basics/error-text.ts';
import { CapstanError } from '../capture/errors.ts';
import type { Config } from '../config/mod.ts';
import type { ObjectStoreConfig } from '../config/slices.ts';
import type { S3Client } from '../storage/s3/client.ts';
import { type Finding, findingsOf } from './finding.ts';

const artifacts = findingsOf('object store');

const BODY = Buffer.from('capstan doctor');
const SHA256 = hash('sha256', BODY);
const MAX_SKEW_MS = 60_000;

export type ArtifactsConfig = Pick<Config, 'artifacts'> & Partial<ObjectStoreConfig>;

/**
 * Writes, reads, lists and removes one object, and finds out what the object store lacks, if captures are kept there.
 */
export async function examineArtifacts(config: ArtifactsConfig): Promise<readonly Finding[]> {
  if (config.artifacts !== 's3') return [];
  const { createS3Client } = await import('../storage/s3/client.ts');
  const client = createS3Client(config);
  const key = `doctor/${randomUUID()}`;
  try {
    const failures = await whyUnusable(client, key);
    if (failures.length > 0) return failures;
    const examinations = [withoutConditions, withoutChecksums, withoutMultiDelete, openToAll, wrongClock];
    const warnings = await Promise.all(examinations.map((examine) => examine(client, key)));
    return [
      ...artifacts.ok(`bucket "${config.s3Bucket}": objects can be written, read, listed and removed`),
      ...warnings.flat(),
    ];
  } finally {
    await client.send({ method: 'DELETE', key, accepts: [404] }).catch(() => undefined);
    client.close();
  }
}

async function put(client: S3Client, key: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const accepts = [400, 409, 412, 501];
  return (await client.send({ method: 'PUT', key, body: BODY, payload: SHA256, headers, accepts })).status;
}

async function whyUnusable(client: S3Client, key: string): Promise<readonly Finding[]> {
  let right = 'written (s3:PutObject)';
  try {
    await client.send({ method: 'PUT', key, body: BODY, payload: SHA256 });
    right = 'read (s3:GetObject)';
    const { body } = await client.send({ method: 'GET', key });
    if (!body.equals(BODY)) return artifacts.failure('an object is not read as it was written', 'use another store');
    right = 'listed (s3:ListBucket)';
    for await (const { objects } of client.list('doctor/')) if (objects.length > 0) break;
    right = 'removed (s3:DeleteObject)';
    await client.send({ method: 'DELETE', key });
    await put(client, key);
    return [];
  } catch (error) {
    const cause = error instanceof CapstanError && error.cause instanceof Error ? error.cause : error;
    const why = errorText(cause);
    return artifacts.failure(`objects cannot be ${right}: ${why}`, adviceFor(why));
  }
}

/** Advice by what the text of the failure has. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/RequestTimeTooSkewed/, 'set the clock of this machine, for example with NTP: requests are signed with the time'],
  [/in the region|AuthorizationHeaderMalformed|PermanentRedirect/, 'set --s3-region to the region of the bucket'],
  [/NoSuchBucket/, 'create the bucket, or correct --s3-bucket'],
  [/there are no keys/, 'set these options, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment'],
  [/SignatureDoesNotMatch|InvalidAccessKeyId|AccessDenied/, 'correct the keys, and give them this right'],
  [/wrong version number/, 'no TLS is spoken there: correct the port of --s3-endpoint, or begin it with http://'],
  [/certificate has expired|altnames/, 'renew the certificate of the store, or correct the host in --s3-endpoint'],
  [
    /self-signed|unable to (?:get|verify)/,
    'name a file with the certificate of its authority by NODE_EXTRA_CA_CERTS in the environment',
  ],
];

function adviceFor(why: string): string {
  const known = ADVICE.find(([pattern]) => pattern.test(why))?.[1];
  return known ?? 'start the object store, and check --s3-endpoint, --s3-addressing and --s3-region';
}

async function withoutConditions(client: S3Client, key: string): Promise<readonly Finding[]> {
  const status = await put(client, key, { 'if-none-match': '*' });
  if (status === 412 || status === 409) return [];
  return artifacts.warning(
    `no conditional put (${status}): of two processes that store the same capture at once, the last one wins`,
    'nothing to do for one process, and for processes whose ids are leased from one database',
  );
}

async function withoutChecksums(client: S3Client, key: string): Promise<readonly Finding[]> {
  const checksum = Buffer.from(SHA256, 'hex').toString('base64');
  const status = await put(client, key, { 'x-amz-checksum-sha256': checksum });
  const { headers } = await client.send({ method: 'HEAD', key, headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  if (status === 200 && headers['x-amz-checksum-sha256'] === checksum) return [];
  return artifacts.warning(
    'the object store keeps no SHA-256: damage is found when files are read',
    'run `capstan db check --contents` now and then, which reads all files',
  );
}

async function withoutMultiDelete(client: S3Client): Promise<readonly Finding[]> {
  if (await client.removeTogether([`doctor/${randomUUID()}`])) return [];
  return artifacts.warning('no request that removes many objects: each removed capture costs two requests', '');
}

async function openToAll(client: S3Client, key: string): Promise<readonly Finding[]> {
  const { status, body } = await fetch(client.urlOf(key));
  await body?.cancel();
  if (status !== 200) return [];
  return artifacts.warning('anyone can read the objects of the bucket', 'turn off public read of the bucket');
}

async function wrongClock(client: S3Client, key: string): Promise<readonly Finding[]> {
  const { headers } = await client.send({ method: 'HEAD', key });
  const skew = Math.abs(Date.parse(headers.date ?? '') - Date.now());
  if (!(skew > MAX_SKEW_MS)) return [];
  return artifacts.warning(
    `the clocks of this machine and of the object store differ by ${Math.round(skew / 1000)} s`,
    'set the clock: requests are refused at a difference of 15 minutes',
  );
}
