import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type Koa from 'koa';
import { CapstanError } from '../capture/errors.ts';
import { failureEnvelope } from './answer/envelope.ts';
import { limitBody } from './connection/body-deadline.ts';
import { Connections } from './connection/connections.ts';
import { sanitizeRequestId } from './middleware/request-id.ts';
import type { HttpState } from './state.ts';

export interface ListenOptions {
  readonly host: string;
  /** Port to listen on; 0 chooses a free one. */
  readonly port: number;
  /** Maximum number of open connections; further ones are closed at once. @default unlimited */
  readonly maxConnections?: number;
  readonly timeouts?: Partial<ServerTimeouts>;
}

/** Time limits for clients, in milliseconds, so that no idle client holds a connection. */
interface ServerTimeouts {
  /** Time limit for the head of a request, from the start of the connection. */
  readonly headMs: number;
  /** Time limit for head and body. It does not include the time of the capture. */
  readonly requestMs: number;
  /** Maximum time between an answer and the next request. */
  readonly keepAliveMs: number;
  /** Time limit for reading any part of an answer: slow readers continue, stalled ones are disconnected. */
  readonly stallMs: number;
  /** Interval at which the first two limits are checked. */
  readonly checkMs: number;
}

export interface HttpServer {
  /** URL of the server, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Number of open connections. */
  readonly connections: number;
  /**
   * Stops accepting connections and closes idle ones at once. Unfinished answers have `graceMs` milliseconds, then
   * their connections are closed too. Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void>;
}

const TIMEOUTS: ServerTimeouts = {
  // A head is small; no real client needs longer.
  headMs: 15_000,
  requestMs: 60_000,
  // Longer than the 60 s of most load balancers, so that they never send into a closed connection.
  keepAliveMs: 65_000,
  // Mobile clients may be offline for this long.
  stallMs: 30_000,
  // Node's default of 30 s would add up to 30 s to the first two limits.
  checkMs: 5_000,
};
/** Delay of TCP keep-alive probes, in milliseconds. The captures of a peer that does not answer them are cancelled. */
const PROBE_AFTER_MS = 60_000;
/** Room for `/results/by-url?url=` with a URL of 8192 characters, most of them percent-encoded. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Starts listening. Rejects with the system's error when the address is not available. */
export async function listen(app: Koa<HttpState>, options: ListenOptions): Promise<HttpServer> {
  const { host, port, maxConnections } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headMs,
    // Bodies are limited by limitBody.
    requestTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node would answer a missing Host without our envelope.
    requireHostHeader: false,
  });
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  const connections = new Connections();
  server.setTimeout(timeouts.stallMs, (socket) => {
    if (connections.silent(socket) === 'client') socket.destroy();
    else socket.setTimeout(timeouts.stallMs);
  });
  const handle = app.callback();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    connections.answering(request.socket, response);
    limitBody(request, response, timeouts.requestMs, () => server.emit('clientError', lateBody(), request.socket));
    void handle(request, response);
  };
  server.on('connection', (socket) => connections.opened(socket));
  server.on('request', serve);
  server.on('checkExpectation', serve);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (connections.hasBegunToAnswer(socket)) socket.destroy();
    else answerUnreadable(error, socket);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    address: addressOf(server),
    get connections() {
      return connections.size;
    },
    close: (graceMs) => closeServer(server, connections, graceMs),
  };
}

async function closeServer(server: Server, connections: Connections, graceMs: number): Promise<void> {
  // http.Server.close would also destroy connections that it takes for idle (see Connections).
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  connections.closeWhenIdle();
  const deadline = setTimeout(() => connections.destroyAll(), graceMs);
  await closed;
  clearTimeout(deadline);
  // Stops the timer that checks for slow requests; no connection is left to close.
  server.close(() => {});
}

/** Answers a request that could not be parsed, and so never reaches the application, with an envelope. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const requestId = sanitizeRequestId(undefined);
  const failure = new CapstanError('invalid_request', unreadable(error.code));
  const body = JSON.stringify(failureEnvelope(failure, requestId));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Returns the error that Node emits for a late request. */
function lateBody(): NodeJS.ErrnoException {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

function unreadable(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The head of the request is larger than ${MAX_HEADER_BYTES} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request did not arrive in time.';
    default:
      return 'The request is not valid HTTP/1.1.';
  }
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
