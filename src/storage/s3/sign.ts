import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { Credentials } from './credentials.ts';

/*
 * Signature Version 4 of AWS. Own code, because signing is a third of what a small request costs: `aws4fetch` signs in
 * 0.4 ms more, and two requests store a capture.
 */

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** The hash of a body that is empty. */
export const EMPTY = hash('sha256', '');

/** By lower-case name, or by name of a parameter. */
export type Fields = Readonly<Record<string, string>>;

interface Signable {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query?: Fields | undefined;
  readonly headers: Fields;
}

export interface Signer {
  readonly region: string;
  readonly credentials: Credentials;
  readonly now: Date;
}

/** Returns the headers of a request, with its signature. `payload`: the SHA-256 of the body, in hex. */
export function signedHeaders(wanted: Signable, signer: Signer & { readonly payload: string }): Fields {
  const { credentials, payload, now } = signer;
  const token = credentials.sessionToken;
  const headers = {
    ...wanted.headers,
    host: wanted.host,
    'x-amz-content-sha256': payload,
    'x-amz-date': timeOf(now),
    ...(token !== undefined && { 'x-amz-security-token': token }),
  };
  const credential = `Credential=${credentials.accessKeyId}/${scopeOf(signer)}`;
  const signature = signatureOf({ ...wanted, headers }, signer, payload);
  return {
    ...headers,
    authorization: `${ALGORITHM} ${credential}, SignedHeaders=${namesOf(headers).join(';')}, Signature=${signature}`,
  };
}

/** Returns the query with which anyone may read an object for this time. */
export function presignedQuery(wanted: Omit<Signable, 'method' | 'headers'>, signer: Signer, seconds: number): string {
  const { credentials, now } = signer;
  const token = credentials.sessionToken;
  const query = {
    ...wanted.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${credentials.accessKeyId}/${scopeOf(signer)}`,
    'X-Amz-Date': timeOf(now),
    'X-Amz-Expires': String(seconds),
    ...(token !== undefined && { 'X-Amz-Security-Token': token }),
    'X-Amz-SignedHeaders': 'host',
  };
  const get = { ...wanted, method: 'GET', headers: { host: wanted.host }, query };
  return `${queryOf(query)}&X-Amz-Signature=${signatureOf(get, signer, 'UNSIGNED-PAYLOAD')}`;
}

/** Returns the query in the form that is signed, which is also the form in which it is sent. */
export function queryOf(query: Fields = {}): string {
  const pairs = Object.entries(query).map((pair) => pair.map(encode).join('='));
  return pairs.sort().join('&');
}

function signatureOf({ method, path, query, headers }: Signable, signer: Signer, payload: string): string {
  const names = namesOf(headers);
  const lines = names.map((name) => `${name}:${headers[name]}`);
  const request = [method, path, queryOf(query), ...lines, '', names.join(';'), payload].join('\n');
  const scope = scopeOf(signer);
  const text = [ALGORITHM, timeOf(signer.now), scope, hash('sha256', request)].join('\n');
  return hmac(keyOf(signer.credentials.secretAccessKey, scope), text).toString('hex');
}

function namesOf(headers: Fields): readonly string[] {
  return Object.keys(headers).sort();
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function timeOf(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, '');
}

function scopeOf({ region, now }: Signer): string {
  return [timeOf(now).slice(0, 8), region, 's3', 'aws4_request'].join('/');
}

let last: { readonly secret: string; readonly scope: string; readonly key: KeyObject } | undefined;

/** Returns the key of a day, which is derived once. Signing with bytes in its place takes five times as long. */
function keyOf(secret: string, scope: string): KeyObject {
  if (last?.secret === secret && last.scope === scope) return last.key;
  const [day = '', ...rest] = scope.split('/');
  const key = createSecretKey(rest.reduce((parent, part) => hmac(parent, part), hmac(`AWS4${secret}`, day)));
  last = { secret, scope, key };
  return key;
}

function hmac(key: KeyObject | Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
