import http from 'node:http';
import type { Socket } from 'node:net';
import { CapstanError, type Failure, failure, toFailure } from '../capture/errors.ts';
import { type OpenConnection, OpeningAgent } from './agents.ts';
import { answerReaderOf, readAnswers } from './answer-reader.ts';
import { mayHaveClosed, standsFor } from './dialled-connection.ts';
import type { Destination } from './egress-policy.ts';
import { forwardedHeaders, forwardedRequestHeaders, reasonPhrase } from './hop-by-hop.ts';
import type { Traffic } from './traffic.ts';
import { noAnswer as noProxyAnswer, type Upstream } from './upstream.ts';

/** Chromium's own limit for a response's header block. */
const MAX_HEADER_BYTES = 256 * 1024;
/** Shorter than the 5 s after which many servers close idle connections, so that few requests use a closed one. */
const IDLE_MS = 4_000;

/**
 * Returns an agent that keeps the connections of one capture and counts what they receive. Each is opened by `open`;
 * the agent never dials.
 */
export function createForwardAgent(open: OpenConnection<Socket>, traffic: Traffic): http.Agent {
  const count = (bytes: number): void => traffic.countBytes(bytes);
  const openReader = async (destination: Destination) => {
    const socket = await open(destination);
    return standsFor(readAnswers(socket, { port: destination.port, maxHeadBytes: MAX_HEADER_BYTES, count }), socket);
  };
  return new OpeningAgent(openReader, { keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
}

/** The target of a plain request. */
export interface ForwardTarget {
  readonly destination: Destination;
  /** Path and query of the request line, as the browser sent them. */
  readonly path: string;
  /** Value of the `Host` header for the target. */
  readonly authority: string;
}

interface ForwardOptions extends ForwardTarget {
  readonly agent: http.Agent;
  readonly traffic: Traffic;
  /** The proxy that the agent connects to, when the request names one. */
  readonly upstream: Upstream | null;
}

/**
 * Forwards a plain HTTP request and its answer, streaming both. When the target does not answer, the browser's
 * connection is closed: an error page from this proxy would be mistaken for the target's page.
 */
export function forwardRequest(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { destination, path, authority, agent, traffic, upstream: proxy }: ForwardOptions,
): void {
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const hangUp = (): void => {
    request.socket.destroy();
  };

  const send = (): void => {
    const upstream = http.request({
      agent,
      host: destination.host,
      port: destination.port,
      method: request.method ?? 'GET',
      path: proxy === null ? path : `http://${authority}${path}`,
      headers: ['Host', authority, ...forwardedRequestHeaders(request), ...(proxy?.headers ?? [])],
      setHost: false,
      // For control characters in headers. The agent normalizes the rest of an answer.
      insecureHTTPParser: true,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    const abandon = (): void => {
      upstream.destroy();
    };
    response.once('close', abandon);

    let isComplete = (): boolean => false;
    /** Shows the bytes that arrived of an answer that breaks off, its head at least. */
    const breakOff = (): void => {
      response.flushHeaders();
      request.socket.destroySoon();
    };
    let mayBeStale = false;
    upstream.once('socket', (socket) => {
      mayBeStale = upstream.reusedSocket || mayHaveClosed(socket);
      const reader = answerReaderOf(socket);
      reader?.expectAnswer();
      // The answer has no socket any more when it has ended.
      upstream.once('response', (answer) => answer.once('end', () => reader?.answerEnded()));
    });
    upstream.once('response', (answer) => {
      isComplete = () => answer.complete;
      answer.once('error', () => (response.headersSent ? breakOff() : hangUp()));
      const refusal = proxy?.refusalIn(answer);
      if (refusal) {
        traffic.noteFailure(destination, toFailure(refusal));
        upstream.destroy();
        hangUp();
        return;
      }
      try {
        response.sendDate = false;
        response.writeHead(answer.statusCode ?? 0, reasonPhrase(answer), forwardedHeaders(answer));
      } catch (error) {
        traffic.noteFailure(destination, notHttp(destination));
        upstream.destroy(error instanceof Error ? error : undefined);
        hangUp();
        return;
      }
      answer.pipe(response);
    });

    upstream.on('error', (error: NodeJS.ErrnoException) => {
      // Bytes after a complete answer, as browsers see it too: they have closed the connection, and the answer stands.
      if (isComplete()) return;
      response.off('close', abandon);
      // The error handler of the answer ends the response.
      if (response.headersSent) return;
      const answered = response.destroyed;
      const stale = mayBeStale && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      // The target closed an idle connection just as it was used. Retry on a new connection, as browsers do.
      if (stale && !hasBody && !answered && !traffic.signal.aborted) {
        send();
        return;
      }
      if (!answered && !traffic.signal.aborted) traffic.noteFailure(destination, noAnswer(error, destination, proxy));
      hangUp();
    });

    if (hasBody) {
      request.on('data', (chunk: Buffer) => traffic.countBytes(chunk.length));
      request.pipe(upstream);
    } else {
      upstream.end();
    }
  };

  request.once('error', hangUp);
  response.once('error', hangUp);
  try {
    traffic.admitRequest();
  } catch (error) {
    traffic.noteFailure(destination, toFailure(error));
    hangUp();
    return;
  }
  send();
}

function noAnswer(error: NodeJS.ErrnoException, destination: Destination, proxy: Upstream | null): Failure {
  if (error instanceof CapstanError) return toFailure(error);
  if (proxy !== null) return toFailure(proxy.failure(noProxyAnswer(error)));
  if (error.code?.startsWith('HPE_')) return notHttp(destination);
  return failure(
    'target_unreachable',
    `${destination.host}:${destination.port} closed the connection without an answer`,
  );
}

function notHttp({ host, port }: Destination): Failure {
  return failure('target_unreachable', `the answer of ${host}:${port} is not HTTP`);
}
