import { randomUUID } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import { sha256 } from '../files/record-file.ts';
import type { S3Client } from './client.ts';
import { type S3Options, s3ClientOf } from './open.ts';

/** What a bucket cannot do, or should not. */
export interface Lack {
  /** One line: what there is, and what follows from it. */
  readonly found: string;
  readonly advice: string;
}

export interface S3Inspection {
  /** Why captures cannot be stored; undefined when they can. */
  readonly failure?: Lack;
  readonly lacks: readonly Lack[];
}

const BODY = Buffer.from('capstan doctor');
const MAX_SKEW_MS = 60_000;

/** Writes, reads, lists and removes one object, and finds out what the object store lacks. */
export async function inspectS3(options: Partial<S3Options>): Promise<S3Inspection> {
  const client = s3ClientOf(options);
  const key = `doctor/${randomUUID()}`;
  try {
    const failure = await whyUnusable(client, key);
    if (failure !== undefined) return { failure, lacks: [] };
    const lacks = await Promise.all([
      withoutConditions(client, key),
      withoutChecksums(client, key),
      withoutMultiDelete(client),
      openToAll(client, key),
      wrongClock(client, key),
    ]);
    return { lacks: lacks.filter((lack) => lack !== undefined) };
  } finally {
    await client.remove([key]).catch(() => undefined);
    client.close();
  }
}

async function put(client: S3Client, key: string, headers: Readonly<Record<string, string>> = {}) {
  const accepts = [400, 409, 412, 501];
  const answer = await client.send({ method: 'PUT', key, body: BODY, payload: await sha256(BODY), headers, accepts });
  return answer.status;
}

async function whyUnusable(client: S3Client, key: string): Promise<Lack | undefined> {
  let right = 'written (s3:PutObject)';
  try {
    await client.send({ method: 'PUT', key, body: BODY, payload: await sha256(BODY) });
    right = 'read (s3:GetObject)';
    const { body } = await client.send({ method: 'GET', key });
    if (!body.equals(BODY)) return { found: 'an object is not read as it was written', advice: 'use another store' };
    right = 'listed (s3:ListBucket)';
    for await (const { objects } of client.list('doctor/')) if (objects.length > 0) break;
    right = 'removed (s3:DeleteObject)';
    await client.send({ method: 'DELETE', key });
    await put(client, key);
    return undefined;
  } catch (error) {
    const cause = error instanceof CapstanError && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    return { found: `objects cannot be ${right}: ${why}`, advice: adviceFor(why) };
  }
}

/** Advice by what the text of the failure has. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/RequestTimeTooSkewed/, 'set the clock of this machine, for example with NTP: requests are signed with the time'],
  [/in the region|AuthorizationHeaderMalformed|PermanentRedirect/, 'set --s3-region to the region of the bucket'],
  [/NoSuchBucket/, 'create the bucket, or correct --s3-bucket'],
  [/SignatureDoesNotMatch|InvalidAccessKeyId|AccessDenied|no keys/, 'correct the keys, and give them this right'],
];

function adviceFor(why: string): string {
  const known = ADVICE.find(([pattern]) => pattern.test(why))?.[1];
  return known ?? 'start the object store, and check --s3-endpoint, --s3-addressing and --s3-region';
}

async function withoutConditions(client: S3Client, key: string): Promise<Lack | undefined> {
  const status = await put(client, key, { 'if-none-match': '*' });
  if (status === 412 || status === 409) return undefined;
  return {
    found: `no conditional put (${status}): of two processes that store the same capture at once, the last one wins`,
    advice: 'nothing to do for one process, and for processes whose ids are leased from one database',
  };
}

async function withoutChecksums(client: S3Client, key: string): Promise<Lack | undefined> {
  const checksum = Buffer.from(await sha256(BODY), 'hex').toString('base64');
  const status = await put(client, key, { 'x-amz-checksum-sha256': checksum });
  const headers = { 'x-amz-checksum-mode': 'ENABLED' };
  const head = await client.send({ method: 'HEAD', key, headers });
  if (status === 200 && head.headers['x-amz-checksum-sha256'] === checksum) return undefined;
  return {
    found: 'the object store keeps no SHA-256: damage is found when files are read',
    advice: 'run `capstan db check --contents` now and then, which reads all files',
  };
}

async function withoutMultiDelete(client: S3Client): Promise<Lack | undefined> {
  const isKnown = await client.removesTogether([`doctor/${randomUUID()}`]);
  if (isKnown) return undefined;
  return { found: 'no request that removes many objects: each removed capture costs two requests', advice: '' };
}

async function openToAll(client: S3Client, key: string): Promise<Lack | undefined> {
  const status = await client.statusForAll(key);
  if (status !== 200) return undefined;
  return { found: 'anyone can read the objects of the bucket', advice: 'turn off public read of the bucket' };
}

async function wrongClock(client: S3Client, key: string): Promise<Lack | undefined> {
  const { headers } = await client.send({ method: 'HEAD', key });
  const skew = Math.abs(Date.parse(headers.date ?? '') - Date.now());
  if (!(skew > MAX_SKEW_MS)) return undefined;
  const found = `the clocks of this machine and of the object store differ by ${Math.round(skew / 1000)} s`;
  return { found, advice: 'set the clock: requests are refused at a difference of 15 minutes' };
}
