import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';

/** RFC 9110, 7.6.1: headers of one connection, which are not forwarded. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Returns the headers to forward to the target, names and values in turn, in their original order and spelling.
 * Omits hop-by-hop headers, and `Host`, which is sent separately as the first header (RFC 9112, 3.2.2).
 */
export function forwardedRequestHeaders(request: IncomingMessage): string[] {
  const headers = forwardedHeaders(request, 'host');
  // `Transfer-Encoding` is set again for the next hop: without it Node sends the body of a GET without framing.
  return request.headers['transfer-encoding'] === undefined ? headers : [...headers, 'Transfer-Encoding', 'chunked'];
}

/** Returns the headers to forward. Omits hop-by-hop headers and invalid ones. */
export function forwardedHeaders(message: IncomingMessage, ...alsoDropped: string[]): string[] {
  const dropped = new Set([...HOP_BY_HOP, ...alsoDropped, ...namedByConnection(message)]);
  const headers: string[] = [];
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    const name = message.rawHeaders[at] ?? '';
    const value = message.rawHeaders[at + 1] ?? '';
    if (!dropped.has(name.toLowerCase()) && isValidHeader(name, value)) headers.push(name, value);
  }
  return headers;
}

/** Returns the reason phrase, or `''` when it has characters that a status line may not have. */
export function reasonPhrase({ statusMessage = '' }: IncomingMessage): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : '';
}

function namedByConnection({ headers }: IncomingMessage): string[] {
  return (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

/** Checks that Node would send the header. */
export function isValidHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
