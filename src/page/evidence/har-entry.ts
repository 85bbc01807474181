import type { Protocol } from 'devtools-protocol';
import type { Entry, Header, PostData, Timings } from 'har-format';
import { bounded, instant } from '../../capture/basics/bounded.ts';
import type { Body, BodyReader } from './body-reader.ts';
import { headerOf } from './header-of.ts';

/* The entry of a request in a HAR. */

const MAX_HEADERS = 100;
const MAX_NAME_CHARACTERS = 256;
export const MAX_VALUE_CHARACTERS = 2_048;
const MAX_URL_CHARACTERS = 8_192;
const MAX_PARAMETERS = 100;
export const MAX_WORD_CHARACTERS = 256;

const WITHHELD = '(withheld)';
const EMPTY = 'empty, or left out: the browser did not see it';

export const NOT_MODIFIED = 304;

/** The parts of a response that an entry has. */
interface Answer extends Pick<Protocol.Network.Response, 'status' | 'statusText' | 'mimeType' | 'headers'> {
  readonly protocol: string;
  readonly timing: Protocol.Network.ResourceTiming | undefined;
  readonly address: string | undefined;
}

/** A request that was seen. Times are seconds of the browser's monotonic clock. */
export interface Seen {
  readonly request: Pick<Protocol.Network.Request, 'method' | 'url' | 'headers'>;
  readonly posted: PostData | undefined;
  readonly startedAt: number;
  /** Seconds since the Unix epoch. */
  readonly wallTime: number;
  /** Headers as sent, including those that the network layer adds. */
  sent?: Protocol.Network.Headers;
  response?: Answer;
  /** Headers as received, including those that scripts cannot read. */
  received?: Protocol.Network.Headers;
  /** Whether the site answered that what a cache has is unchanged. */
  isUnchanged?: boolean;
  endedAt?: number;
  /** Bytes of the body after decoding, and as it was received, with frames and the sizes of chunks. */
  size: number;
  bodyBytes: number;
  /** Bytes of the response's head as it was received. */
  headBytes: number;
  /** The cache that answered, without a request to the network. */
  cache?: 'memory' | 'disk';
  failure: string;
}

interface EntryOptions {
  /** Id of its page. */
  readonly pageref: string;
  /** Names of request headers whose values are left out. */
  readonly withheld: ReadonlySet<string>;
  /** Undefined without bodies. */
  readonly bodies: BodyReader | undefined;
}

/** Returns the entry of a request. */
export function entryOf(seen: Seen, { pageref, withheld, bodies }: EntryOptions): Entry {
  const { request, posted, startedAt, wallTime, sent, response, received, endedAt, size, failure } = seen;
  const { bodyBytes, headBytes, cache, isUnchanged } = seen;
  const timings = timingsOf(startedAt, endedAt, response?.timing);
  const httpVersion = response?.protocol ?? '';
  return {
    pageref,
    startedDateTime: instant(wallTime),
    time: totalOf(timings),
    request: {
      method: request.method,
      url: bounded(request.url, MAX_URL_CHARACTERS),
      httpVersion,
      cookies: [],
      headers: headersOf(sent ?? request.headers).map((header) =>
        withheld.has(header.name.toLowerCase()) ? { ...header, value: WITHHELD } : header,
      ),
      queryString: parametersOf(request.url),
      headersSize: -1,
      bodySize: sentBytes(sent),
      ...(posted !== undefined && { postData: posted }),
    },
    response: {
      status: isUnchanged === true ? NOT_MODIFIED : (response?.status ?? 0),
      statusText: isUnchanged === true ? 'Not Modified' : (response?.statusText ?? ''),
      httpVersion,
      cookies: [],
      headers: headersOf(received ?? response?.headers ?? {}),
      content: {
        size,
        mimeType: response?.mimeType ?? 'x-unknown',
        ...(locationOf(response) === '' && bodyOf(seen, bodies)),
      },
      redirectURL: bounded(locationOf(response), MAX_URL_CHARACTERS),
      // Later versions of HTTP compress them together with those of other responses.
      headersSize: headBytes > 0 && /^http\/1/i.test(httpVersion) ? headBytes : -1,
      bodySize: receivedBytes(seen),
      _transferSize: Math.round(headBytes + bodyBytes),
      ...(failure === '' ? {} : { _error: bounded(failure, MAX_WORD_CHARACTERS) }),
    },
    cache: {},
    ...(cache !== undefined && { _fromCache: cache }),
    timings,
    ...(response?.address !== undefined && { serverIPAddress: response.address }),
  };
}

function bodyOf(seen: Seen, bodies: BodyReader | undefined): Body | undefined {
  const body = bodies?.bodyOf(seen);
  // Of a response that a script reads as a blob, the browser sees nothing.
  return body?.text === '' && seen.size === 0 ? { comment: EMPTY } : body;
}

function timingsOf(
  startedAt: number,
  endedAt: number | undefined,
  timing: Protocol.Network.ResourceTiming | undefined,
): Timings {
  const wholeMs = endedAt === undefined ? 0 : Math.max(0, (endedAt - startedAt) * 1000);
  if (timing === undefined) return { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: wholeMs, receive: 0 };
  const span = (start: number, end: number) => (start < 0 || end < start ? -1 : end - start);
  const first = [timing.dnsStart, timing.connectStart, timing.sendStart].find((at) => at >= 0) ?? 0;
  const queuedMs = Math.max(0, (timing.requestTime - startedAt) * 1000);
  const receivedAt = timing.requestTime + timing.receiveHeadersEnd / 1000;
  return {
    blocked: queuedMs + first,
    dns: span(timing.dnsStart, timing.dnsEnd),
    connect: span(timing.connectStart, timing.connectEnd),
    ssl: span(timing.sslStart, timing.sslEnd),
    send: Math.max(0, span(timing.sendStart, timing.sendEnd)),
    wait: Math.max(0, timing.receiveHeadersEnd - timing.sendEnd),
    receive: endedAt === undefined ? 0 : Math.max(0, (endedAt - receivedAt) * 1000),
  };
}

/** Time of a request in milliseconds. TLS is a part of connecting. */
function totalOf({ blocked = -1, dns = -1, connect = -1, send = 0, wait, receive }: Timings): number {
  return [blocked, dns, connect, send, wait, receive].reduce((sum, ms) => sum + Math.max(0, ms), 0);
}

function headersOf(headers: Protocol.Network.Headers): Header[] {
  return Object.entries(headers)
    .slice(0, MAX_HEADERS)
    .map(([name, value]) => ({
      name: bounded(name, MAX_NAME_CHARACTERS),
      value: bounded(value, MAX_VALUE_CHARACTERS),
    }));
}

function parametersOf(url: string): { name: string; value: string }[] {
  return [...(URL.parse(url)?.searchParams ?? [])].slice(0, MAX_PARAMETERS).map(([name, value]) => ({
    name: bounded(name, MAX_NAME_CHARACTERS),
    value: bounded(value, MAX_VALUE_CHARACTERS),
  }));
}

function locationOf(response: Answer | undefined): string {
  return headerOf(response?.headers, 'location') ?? '';
}

/** Returns -1 when the headers do not say it. */
function sentBytes(sent: Protocol.Network.Headers | undefined): number {
  const isUnknown = sent === undefined || headerOf(sent, 'transfer-encoding') !== undefined;
  return isUnknown ? -1 : lengthIn(sent, 0);
}

/**
 * Returns the bytes of a body as it was received, without frames and the sizes of chunks, which the browser counts with
 * it; -1 when they cannot be told apart.
 */
function receivedBytes(seen: Seen): number {
  const { response, received, cache, isUnchanged, size, bodyBytes, failure, endedAt } = seen;
  const headers = received ?? response?.headers;
  const isFirst = /^http\/1/i.test(response?.protocol ?? '');
  // A small body over HTTP/2 is counted with the head, when it came with it.
  if (cache !== undefined || isUnchanged === true || (bodyBytes === 0 && (isFirst || size === 0))) return 0;
  if (size > 0 && /^(?:identity)?$/i.test(headerOf(headers, 'content-encoding') ?? '')) return size;
  const isInChunks = headerOf(headers, 'transfer-encoding') !== undefined;
  if (!isInChunks && isFirst) return Math.round(bodyBytes);
  return isInChunks || failure !== '' || endedAt === undefined ? -1 : lengthIn(headers, -1);
}

function lengthIn(headers: Protocol.Network.Headers | undefined, otherwise: number): number {
  const length = headerOf(headers, 'content-length') ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : otherwise;
}
