import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listening } from '../../egress/listening.ts';

/** A request as a receiver got it. */
export interface Got {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, all else as JSON. */
  readonly body?: unknown;
}

export interface HttpReceiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
}

/** Starts a server on loopback whose answers `answer` makes. */
export async function startHttpReceiver(answer: (got: Got) => Answered | Promise<Answered>): Promise<HttpReceiver> {
  const http = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const body = await buffer(request);
    const made = await answer({ method: request.method ?? '', url, headers: request.headers, body });
    const isText = typeof made.body === 'string';
    response.writeHead(made.status, { 'content-type': isText ? 'text/plain' : 'application/json', ...made.headers });
    response.end(made.body === undefined ? '' : isText ? made.body : JSON.stringify(made.body));
  });
  const server = await listening(http, '127.0.0.1');
  return { origin: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Answers that are given before a receiver reads a request, one for each request. */
export class Faults {
  readonly #waiting: Answered[] = [];

  /** The next requests get these answers. */
  next(...answers: readonly Answered[]): void {
    this.#waiting.push(...answers);
  }

  take(): Answered | undefined {
    return this.#waiting.shift();
  }
}

export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
