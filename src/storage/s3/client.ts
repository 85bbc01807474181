import { createHash, hash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import aws4 from 'aws4';
import type { ObjectStoreConfig } from '../../config/slices.ts';
import { credentialSource } from './credentials.ts';
import { type Answer, failureOf, isTransient } from './failure.ts';
import { allIn, textIn } from './xml.ts';

/** The requests that the store needs, over HTTP or HTTPS; those that fail for now are repeated. */

const ATTEMPTS = 4;
const FIRST_DELAY_MS = 100;
/** Minimum time between two reports of failures, in milliseconds. */
const REPORTED_MS = 60_000;
/** Time without a byte after which a request has failed, in milliseconds. */
const SILENCE_MS = 30_000;
/** The SHA-256 of a body that is empty. */
const EMPTY = hash('sha256', '');

/** By lower-case name, or by name of a parameter. */
export type Fields = Readonly<Record<string, string>>;

export interface S3ClientOptions {
  readonly silenceMs?: number;
  /** Maximum number of keys in a page of a listing. @default that of the store, at most 1000 */
  readonly listedTogether?: number;
  /** Finds the address of a host. @default by the system */
  readonly lookup?: LookupFunction;
  /** Called when requests fail, at most once a minute. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

interface Wanted {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Empty: the bucket itself. */
  readonly key?: string;
  readonly query?: Fields;
  readonly headers?: Fields;
  readonly body?: Uint8Array;
  /** SHA-256 of the body, in hex. */
  readonly payload?: string;
  /** Statuses other than 2xx that are answers. */
  readonly accepts?: readonly number[];
}

export type S3Client = ReturnType<typeof createS3Client>;

/** Keys in the options and results of all methods are without the prefix. */
export function createS3Client(config: Partial<ObjectStoreConfig>, options: S3ClientOptions = {}) {
  const { s3Bucket: bucket, s3Region: region = 'us-east-1', s3Prefix: prefix = '', s3Addressing = 'auto' } = config;
  const { silenceMs = SILENCE_MS, listedTogether, lookup, onProblem = () => {} } = options;
  if (bucket == null) throw new Error('artifacts in an object store need a bucket');
  const { protocol, hostname, port, pathname } = new URL(config.s3Endpoint ?? `https://s3.${region}.amazonaws.com`);
  const { request, Agent } = protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, ...(lookup && { lookup }) });
  const credentials = credentialSource(config);
  const ownPrefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  const isInPath = s3Addressing === 'auto' ? config.s3Endpoint != null : s3Addressing === 'path';
  const base = `${pathname.replace(/\/$/, '')}${isInPath ? `/${bucket}` : ''}`;
  const ownHost = isInPath ? hostname : `${bucket}.${hostname}`;
  const host = port === '' ? ownHost : `${ownHost}:${port}`;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function pathOf(key: string, query: Fields = {}): string {
    const pairs = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='));
    const path = key === '' ? base || '/' : `${base}/${ownPrefix}${key}`;
    return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
  }

  /** Sends a request once. */
  async function sendOnce({ method, key = '', query, headers, body, payload = EMPTY }: Wanted): Promise<Answer> {
    const length = body && { 'content-length': String(body.byteLength) };
    const own = { ...headers, ...length, 'x-amz-content-sha256': payload };
    const wanted = { service: 's3', region, method, host, path: pathOf(key, query), headers: own };
    const { path, headers: signed } = aws4.sign(wanted, await credentials());
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = request({ hostname: ownHost, port, path, method, headers: signed, agent }, resolve);
      sending.setTimeout(silenceMs, () => sending.destroy(new Error(`no byte for ${silenceMs} ms`)));
      sending.on('error', reject);
      sending.end(body);
    });
    // Not by `buffer` of `node:stream/consumers`, which makes a blob of each answer.
    return { status: message.statusCode ?? 0, headers: message.headers, body: Buffer.concat(await message.toArray()) };
  }

  /** Repeats what fails for now. Rejects with a `CapstanError`. */
  async function send(wanted: Wanted): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await sendOnce(wanted).catch((error: unknown) => ({ error }));
      if ('status' in answer && isAccepted(answer, wanted)) return answer;
      if (attempt === ATTEMPTS || !isTransient(answer)) throw reported(failureOf(answer, region));
      await delay(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
    }
  }

  function reported(failure: Error): Error {
    if (performance.now() - reportedAt > REPORTED_MS) {
      reportedAt = performance.now();
      onProblem(failure);
    }
    return failure;
  }

  /** Lists the keys above `after`, in pages. With `delimiter`, keys are grouped into folders up to it. */
  async function* list(prefix: string, { delimiter = '', after = '' } = {}) {
    const query = {
      'list-type': '2',
      prefix: `${ownPrefix}${prefix}`,
      ...(delimiter !== '' && { delimiter }),
      ...(after !== '' && { 'start-after': `${ownPrefix}${after}` }),
      ...(listedTogether !== undefined && { 'max-keys': String(listedTogether) }),
    };
    for (let position: Fields = {}; ; ) {
      const { headers, body } = await send({ method: 'GET', query: { ...query, ...position } });
      const xml = body.toString();
      const now = Date.parse(headers.date ?? '') || Date.now();
      yield {
        objects: allIn(xml, 'Contents').map((one) => ({
          key: textIn(one, 'Key').slice(ownPrefix.length),
          bytes: Number(textIn(one, 'Size')),
          ageMs: now - Date.parse(textIn(one, 'LastModified')),
        })),
        folders: allIn(xml, 'CommonPrefixes').map((one) => textIn(one, 'Prefix').slice(ownPrefix.length)),
      };
      const token = textIn(xml, 'NextContinuationToken');
      if (textIn(xml, 'IsTruncated') !== 'true' || token === '') return;
      position = { 'continuation-token': token };
    }
  }

  /** Deletes at most 1000 objects with one request; false when the store has no such request. */
  async function removeTogether(keys: readonly string[]): Promise<boolean> {
    const named = keys.map((key) => `<Object><Key>${ownPrefix}${key}</Key></Object>`).join('');
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${named}</Delete>`);
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    const payload = hash('sha256', body);
    const accepts = [400, 405, 501];
    const answer = await send({ method: 'POST', query: { delete: '' }, headers, body, payload, accepts });
    if (answer.status !== 200) return false;
    const [failure] = allIn(answer.body.toString(), 'Error');
    if (failure === undefined) return true;
    throw failureOf({ ...answer, body: Buffer.from(failure) }, region);
  }

  return {
    send,
    list,
    removeTogether,
    urlOf: (key: string) => `${protocol}//${host}${pathOf(key)}`,
    /** Returns a URL with which anyone may read the object. `query`: how it is to be answered. */
    presign: async (key: string, seconds: number, query: Fields) => {
      const path = pathOf(key, { ...query, 'X-Amz-Expires': String(seconds) });
      const { path: signed } = aws4.sign({ service: 's3', region, host, path, signQuery: true }, await credentials());
      return `${protocol}//${host}${signed}`;
    },
    close: () => agent.destroy(),
  };
}

function isAccepted({ status }: Answer, { accepts = [] }: Wanted): boolean {
  return (status >= 200 && status < 300) || accepts.includes(status);
}
