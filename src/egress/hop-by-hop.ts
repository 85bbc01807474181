import { type IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';

/** RFC 9110, 7.6.1: these concern one connection, and end at whoever receives them. */
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
 * The headers of a request as its target gets them, in their order and spelling, name and value by turns: without those
 * of the hop, and without `Host`, which follows the request line (RFC 9112, 3.2.2).
 */
export function forwardedRequestHeaders(request: IncomingMessage): string[] {
  const headers = forwardedHeaders(request, 'host');
  // Said again for our own hop: without it Node would send the body of a GET without saying that there is one.
  return request.headers['transfer-encoding'] === undefined ? headers : [...headers, 'Transfer-Encoding', 'chunked'];
}

/** The headers of an answer as the browser gets them: those that cannot be sent on are left out. */
export function forwardedHeaders(message: IncomingMessage, ...alsoDropped: string[]): string[] {
  const dropped = new Set([...HOP_BY_HOP, ...alsoDropped, ...namedByConnection(message)]);
  const headers: string[] = [];
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    const name = message.rawHeaders[at] ?? '';
    const value = message.rawHeaders[at + 1] ?? '';
    if (!dropped.has(name.toLowerCase()) && isValid(name, value)) headers.push(name, value);
  }
  return headers;
}

/** The reason phrase, or `''` when it holds what no status line may. */
export function reasonPhrase({ statusMessage = '' }: IncomingMessage): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage) ? statusMessage : '';
}

function namedByConnection({ headers }: IncomingMessage): string[] {
  return (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
}

function isValid(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
