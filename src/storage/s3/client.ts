import { createHash, hash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { CapstanError } from '../../capture/errors.ts';
import type { ByteSpan } from '../ports/artifact-store.ts';
import type { CredentialSource } from './credentials.ts';
import { type Answer, isTransient, refusalOf, unavailable } from './failure.ts';
import { EMPTY, type Fields, presignedQuery, queryOf, type Signer, signedHeaders } from './sign.ts';
import { allIn, textIn } from './xml.ts';

/** The requests that the store needs, over HTTP or HTTPS; those that fail for now are repeated. */

const ATTEMPTS = 4;
const FIRST_DELAY_MS = 100;
/** Minimum time between two reports of failures, in milliseconds. */
const REPORTED_MS = 60_000;
/** Time without a byte after which a request has failed, in milliseconds. */
const SILENCE_MS = 30_000;
/** Minimum bytes of an answer that breaks off, after which its rest is asked for any number of times. */
const MIN_PROGRESS = 64 * 1024;
/** Maximum number of keys that one request deletes. */
const DELETED_TOGETHER = 1000;

interface S3Place {
  /** Null: that of Amazon in the region. */
  readonly endpoint: string | null;
  readonly bucket: string;
  readonly region: string;
  /** The beginning of all keys, which no method takes or returns. */
  readonly prefix: string;
  /** Whether the bucket is in the path of URLs, and not in their host. */
  readonly pathStyle: boolean;
}

export interface S3ClientOptions extends S3Place {
  readonly credentials: CredentialSource;
  readonly silenceMs?: number;
  /** Maximum number of keys in a page of a listing. @default that of the store, at most 1000 */
  readonly listedTogether?: number;
  /** Finds the address of a host. @default by the system */
  readonly lookup?: LookupFunction;
  /** Called when requests fail, at most once a minute. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

export interface S3Object {
  readonly key: string;
  readonly bytes: number;
  /** Time of its last change by the clock of the store. */
  readonly changedAt: number;
}

export interface Page {
  readonly objects: readonly S3Object[];
  /** The beginnings of keys up to the delimiter. */
  readonly folders: readonly string[];
  /** Time of the store, in milliseconds since the Unix epoch. */
  readonly now: number;
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

export function createS3Client(options: S3ClientOptions) {
  const { bucket, prefix: ownPrefix, region, pathStyle, credentials, silenceMs = SILENCE_MS } = options;
  const { onProblem = () => {}, listedTogether, lookup } = options;
  let reportedAt = Number.NEGATIVE_INFINITY;
  const origin = new URL(options.endpoint ?? `https://s3.${region}.amazonaws.com`);
  const { request, Agent } = origin.protocol === 'https:' ? https : http;
  const agent = new Agent({ keepAlive: true, ...(lookup && { lookup }) });

  const base = `${origin.pathname.replace(/\/$/, '')}${pathStyle ? `/${bucket}` : ''}`;
  const hostname = pathStyle ? origin.hostname : `${bucket}.${origin.hostname}`;
  const host = origin.port === '' ? hostname : `${hostname}:${origin.port}`;

  function pathOf(key: string): string {
    return key === '' ? base || '/' : `${base}/${ownPrefix}${key}`;
  }

  function urlOf(key: string, query = ''): string {
    return `${origin.protocol}//${host}${pathOf(key)}${query === '' ? '' : `?${query}`}`;
  }

  async function signer(): Promise<Signer> {
    return { region, credentials: await credentials(), now: new Date() };
  }

  /** Sends a request once; resolves when its answer begins. */
  async function begin({ method, key = '', query, headers, body, payload = EMPTY }: Wanted): Promise<IncomingMessage> {
    const sent = body === undefined ? { ...headers } : { ...headers, 'content-length': String(body.byteLength) };
    const path = pathOf(key);
    const signed = signedHeaders({ method, host, path, query, headers: sent }, { ...(await signer()), payload });
    return new Promise((resolve, reject) => {
      const { port } = origin;
      const place = { hostname, port, path: query === undefined ? path : `${path}?${queryOf(query)}` };
      const sending = request({ ...place, method, headers: signed, agent }, resolve);
      sending.setTimeout(silenceMs, () => sending.destroy(new Error(`no byte for ${silenceMs} ms`)));
      sending.on('error', reject);
      sending.end(body);
    });
  }

  function failed(error: unknown): CapstanError {
    const failure = unavailable(error);
    if (performance.now() - reportedAt > REPORTED_MS) {
      reportedAt = performance.now();
      onProblem(failure);
    }
    return failure;
  }

  /** Repeats what fails for now. Rejects with a `CapstanError`. */
  async function repeated<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (attempt === ATTEMPTS || !isTransient(error)) throw failed(error);
        await delay(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
      }
    }
  }

  function send(wanted: Wanted): Promise<Answer> {
    return repeated(async () => {
      const answer = await wholeAnswer(await begin(wanted));
      if ((answer.status >= 200 && answer.status < 300) || wanted.accepts?.includes(answer.status)) return answer;
      throw refusalOf(answer, region);
    });
  }

  /** Reads bytes of an object. A connection that breaks is replaced by one for the rest. */
  async function* bytesOf(key: string, span: ByteSpan): AsyncGenerator<Uint8Array> {
    let { start } = span;
    /** Answers in a row that brought little of what was asked for. */
    let failures = 0;
    while (start <= span.end) {
      const range = `bytes=${start}-${span.end}`;
      const message = await repeated(async () => {
        const wanted: Wanted = { method: 'GET', key, headers: { range } };
        const begun = await begin(wanted);
        if (begun.statusCode === 206) return begun;
        throw refusalOf(await wholeAnswer(begun), region);
      });
      const { socket } = message;
      const first = start;
      let broken: unknown = new Error('the answer ends early');
      try {
        for await (const chunk of message) {
          const bytes: Buffer = chunk;
          // A client that reads slowly is not the silence of the store.
          socket.setTimeout(0);
          yield bytes;
          socket.setTimeout(silenceMs);
          start += bytes.length;
        }
      } catch (error) {
        broken = error;
      } finally {
        message.destroy();
      }
      failures = start - first < MIN_PROGRESS ? failures + 1 : 0;
      if (start <= span.end && failures === ATTEMPTS) throw failed(broken);
    }
  }

  async function* list(prefix: string, delimiter = ''): AsyncGenerator<Page> {
    const query = {
      'list-type': '2',
      prefix: `${ownPrefix}${prefix}`,
      ...(delimiter === '' ? {} : { delimiter }),
      ...(listedTogether === undefined ? {} : { 'max-keys': String(listedTogether) }),
    };
    let position: Fields = {};
    for (;;) {
      const { headers, body } = await send({ method: 'GET', query: { ...query, ...position } });
      const xml = body.toString();
      yield {
        objects: allIn(xml, 'Contents').map((one) => ({
          key: textIn(one, 'Key').slice(ownPrefix.length),
          bytes: Number(textIn(one, 'Size')),
          changedAt: Date.parse(textIn(one, 'LastModified')),
        })),
        folders: allIn(xml, 'CommonPrefixes').map((one) => textIn(one, 'Prefix').slice(ownPrefix.length)),
        now: Date.parse(headers.date ?? '') || Date.now(),
      };
      const token = textIn(xml, 'NextContinuationToken');
      if (textIn(xml, 'IsTruncated') !== 'true' || token === '') return;
      position = { 'continuation-token': token };
    }
  }

  /** Deletes objects; those that do not exist are ignored. */
  async function remove(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += DELETED_TOGETHER) {
      const some = keys.slice(at, at + DELETED_TOGETHER);
      // Some stores have no request for many.
      if (!(await removesTogether(some))) for (const key of some) await send({ method: 'DELETE', key, accepts: [404] });
    }
  }

  /** Deletes objects with one request; false when the store has no such request. */
  async function removesTogether(keys: readonly string[]): Promise<boolean> {
    const named = keys.map((key) => `<Object><Key>${ownPrefix}${key}</Key></Object>`).join('');
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${named}</Delete>`);
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    const payload = hash('sha256', body);
    const accepts = [400, 405, 501];
    const answer = await send({ method: 'POST', query: { delete: '' }, headers, body, payload, accepts });
    if (answer.status !== 200) return false;
    const [failed] = allIn(answer.body.toString(), 'Error');
    if (failed === undefined) return true;
    throw unavailable(refusalOf({ ...answer, status: 503, body: Buffer.from(failed) }, region));
  }

  return {
    send,
    list,
    remove,
    removesTogether,
    urlOf: (key: string) => urlOf(key),
    read: (key: string, span: ByteSpan) => Readable.from(bytesOf(key, span), { objectMode: false }),
    /** Returns a URL with which anyone may read the object. `query`: how it is to be answered. */
    presign: async (key: string, seconds: number, query: Fields) =>
      urlOf(key, presignedQuery({ host, path: pathOf(key), query }, await signer(), seconds)),
    close: () => agent.destroy(),
  };
}

/** Not by `buffer` of `node:stream/consumers`, which makes a blob of each answer. */
async function wholeAnswer(message: IncomingMessage): Promise<Answer> {
  const body = Buffer.concat(await message.toArray());
  return { status: message.statusCode ?? 0, headers: message.headers, body };
}
