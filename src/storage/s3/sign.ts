import { createHmac, hash } from 'node:crypto';
import type { Credentials } from './credentials.ts';

/*
 * Signature Version 4 of AWS. Own code, because signing is a third of what a small request costs: `aws4fetch` signs in
 * 0.4 ms more, and two requests store a capture.
 */

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** The hash of a body that is empty. */
export const EMPTY = hash('sha256', '');

export interface Signable {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case, all of which are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the headers of a request, with its signature. `payload`: the SHA-256 of the body, in hex. */
export function signedHeaders(
  { method, url, headers }: Signable,
  { region, credentials, payload, now }: Signer & { readonly payload: string },
): Record<string, string> {
  const time = timeOf(now);
  const signed: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-content-sha256': payload,
    'x-amz-date': time,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const names = Object.keys(signed).sort();
  const lines = names.map((name) => `${name}:${signed[name]}`);
  const request = [method, url.pathname, queryOf(url), ...lines, '', names.join(';'), payload].join('\n');
  const scope = scopeOf(time, region);
  const signature = signatureOf(request, { time, scope, secret: credentials.secretAccessKey });
  const credential = `Credential=${credentials.accessKeyId}/${scope}`;
  signed.authorization = `${ALGORITHM} ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return signed;
}

interface Signer {
  readonly region: string;
  readonly credentials: Credentials;
  readonly now: Date;
}

/** Returns a URL with which anyone may read an object for this time. */
export function presignedUrl(
  url: URL,
  { region, credentials, now, seconds }: Signer & { readonly seconds: number },
): string {
  const time = timeOf(now);
  const scope = scopeOf(time, region);
  const signed = new URL(url);
  signed.searchParams.set('X-Amz-Algorithm', ALGORITHM);
  signed.searchParams.set('X-Amz-Credential', `${credentials.accessKeyId}/${scope}`);
  signed.searchParams.set('X-Amz-Date', time);
  signed.searchParams.set('X-Amz-Expires', String(seconds));
  if (credentials.sessionToken !== undefined) {
    signed.searchParams.set('X-Amz-Security-Token', credentials.sessionToken);
  }
  signed.searchParams.set('X-Amz-SignedHeaders', 'host');
  const query = queryOf(signed);
  const request = ['GET', url.pathname, query, `host:${url.host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const signature = signatureOf(request, { time, scope, secret: credentials.secretAccessKey });
  return `${url.origin}${url.pathname}?${query}&X-Amz-Signature=${signature}`;
}

/** Returns the query in the form that is signed, which is also the form in which it is sent. */
export function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map((pair) => pair.map(encode).join('='))
    .sort()
    .join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function timeOf(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, '');
}

function scopeOf(time: string, region: string): string {
  return [time.slice(0, 8), region, 's3', 'aws4_request'].join('/');
}

interface Secret {
  readonly time: string;
  readonly scope: string;
  readonly secret: string;
}

function signatureOf(request: string, { time, scope, secret }: Secret): string {
  return hmac(keyOf(secret, scope), [ALGORITHM, time, scope, hash('sha256', request)].join('\n')).toString('hex');
}

let last: { readonly secret: string; readonly scope: string; readonly key: Buffer } | undefined;

/** Returns the key of a day, which is derived once. */
function keyOf(secret: string, scope: string): Buffer {
  if (last?.secret === secret && last.scope === scope) return last.key;
  const [day = '', ...rest] = scope.split('/');
  const key = rest.reduce((parent, part) => hmac(parent, part), hmac(`AWS4${secret}`, day));
  last = { secret, scope, key };
  return key;
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
