import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import type { Egress } from '../../src/egress/egress.ts';
import { type Listening, listening } from '../egress/listening.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Received messages with their bodies, in the order in which they were answered. */
  readonly received: readonly Received[];
}

/** The receiver's answer to its n-th message, from 0. */
export type Answer = (response: ServerResponse, n: number) => void;

export const taken: Answer = (response) => void response.writeHead(204).end();

/** Answers with these statuses in turn, and repeats the last one. */
export function statuses(...list: readonly number[]): Answer {
  return (response, n) => void response.writeHead(list[n] ?? list.at(-1) ?? 204).end('said');
}

export interface ReceiverOptions {
  /** @default a free port */
  readonly port?: number;
  /** When given, the receiver speaks TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** Starts a receiver on loopback. */
export async function startReceiver(answer: Answer = taken, options: ReceiverOptions = {}): Promise<Receiver> {
  const { port = 0, tls } = options;
  const received: Received[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = await text(request);
    received.push({ headers: request.headers, body });
    answer(response, received.length - 1);
  };
  const http = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const server: Listening = await listening(http, '127.0.0.1', port);
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}/hook?key=k`,
    received,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Egress for receivers: allows loopback and no other private address. */
export function receiverEgress(names: Readonly<Record<string, readonly string[]>> = {}): Egress {
  return createEgress({
    policy: createTargetPolicy({ allow: ['127.0.0.1'], deny: [] }),
    lookup: async (name) => names[name] ?? [],
    dialTimeoutMs: 2_000,
  });
}
