import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type Koa from 'koa';
import { CapstanError } from '../capture/errors.ts';
import { limitBody } from './body-deadline.ts';
import { Connections } from './connections.ts';
import { failureEnvelope } from './envelope.ts';
import { sanitizeRequestId } from './request-id.ts';
import type { HttpState } from './state.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Connections that may be open at once; one more is closed unheard. By default without a limit. */
  readonly maxConnections?: number;
  readonly timeouts?: Partial<ServerTimeouts>;
}

/** How long clients may take, in milliseconds: none may hold a connection for nothing. */
export interface ServerTimeouts {
  /** For the head of a request, from when the connection is there. */
  readonly headMs: number;
  /** For head and body, 1 MiB at most. It ends when the request has been read: a capture may take as long as it takes. */
  readonly requestMs: number;
  /** Between an answer and the next request. */
  readonly keepAliveMs: number;
  /** For taking a part of an answer that lies ready: whoever reads slowly goes on, whoever does not read is cut off. */
  readonly stallMs: number;
  /** How often the first two are looked at. */
  readonly checkMs: number;
}

export interface HttpServer {
  /** `http://127.0.0.1:8080`. */
  readonly address: string;
  /** Connections that are open now. */
  readonly connections: number;
  /**
   * Stops accepting and closes idle connections at once; answers under way have `graceMs` milliseconds, then their
   * connections are closed too. Resolves when none is left.
   */
  close(graceMs: number): Promise<void>;
}

const TIMEOUTS: ServerTimeouts = {
  // A head is small, and a client that sends it slower than this holds a connection for nothing.
  headMs: 15_000,
  requestMs: 60_000,
  // Longer than the minute that load balancers keep connections for, so that none sends into a closed one.
  keepAliveMs: 65_000,
  // Somebody on a train may be in a tunnel for as long.
  stallMs: 30_000,
  // Node's own 30 s would make the first two 30 s longer.
  checkMs: 5_000,
};
/** A peer that vanished without a word is asked for after so long; its captures are cancelled when it does not answer. */
const PROBE_AFTER_MS = 60_000;
/** `/results/by-url?url=` of a URL of 8192 characters, most of them percent-encoded. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Rejects with the system's error when the address cannot be had. */
export async function listen(app: Koa<HttpState>, options: ListenOptions): Promise<HttpServer> {
  const { host, port, maxConnections } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headMs,
    // Of bodies see limitBody.
    requestTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkMs,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Nothing here depends on the Host header; Node would answer its absence without our envelope.
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
  // The plain server's close: that of http also destroys what it thinks is idle (see Connections).
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  connections.closeWhenIdle();
  const deadline = setTimeout(() => connections.destroyAll(), graceMs);
  await closed;
  clearTimeout(deadline);
  // Ends the timer that looks for slow requests; there is nothing left to close.
  server.close(() => {});
}

/** What could not be read as a request never reaches the application, and is told so in the same words as the others. */
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

/** As Node says it. */
function lateBody(): NodeJS.ErrnoException {
  return Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}

function unreadable(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The head of the request is larger than ${MAX_HEADER_BYTES} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request did not come in time.';
    default:
      return 'This is not an HTTP/1.1 request.';
  }
}

function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
