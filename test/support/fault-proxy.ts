import { hash } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listening } from '../egress/listening.ts';

/** Fault of a request: an answer from the proxy, a connection that breaks before or in the answer, or no answer. */
export type Fault =
  | { readonly status: number; readonly code: string }
  | 'reset'
  | 'reset in the body'
  | 'silence'
  | 'answer lost'
  | ((body: string) => string);

export interface FaultProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Requests that have come, as `PUT /bucket/key`. */
  readonly seen: string[];
  /** PUT requests that did not carry the SHA-256 of their body. */
  readonly unchecked: string[];
  /** Returns the fault of a request; undefined: none. Set by tests. */
  fault: (request: string) => Fault | undefined;
  /** Whether requests without a signature are answered with 200, as by a bucket with public read. */
  open: boolean;
  /** Headers that replace those of the server's answers. */
  headers: Readonly<Record<string, string>>;
  /** Called when the server has answered a request, before the client learns of it; what it returns is awaited. */
  answered: (request: string) => unknown;
}

/** A proxy in front of an object store, which does to requests what networks and stores do. */
export async function startFaultProxy(upstream: () => string): Promise<FaultProxy> {
  const agent = new http.Agent({ keepAlive: true });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    proxy.seen.push(line);
    const fault = proxy.fault(line);
    if (proxy.open && request.headers.authorization === undefined) return void response.end();
    if (fault === 'silence') return;
    if (fault === 'reset') return void request.socket.destroy();
    const body = await buffer(request);
    const digest = hash('sha256', body, 'base64');
    if (request.method === 'PUT' && request.headers['x-amz-checksum-sha256'] !== digest) proxy.unchecked.push(line);
    if (typeof fault === 'object') {
      response.writeHead(fault.status, { 'content-type': 'application/xml' });
      return void response.end(`<Error><Code>${fault.code}</Code><Message>as asked</Message></Error>`);
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const { method, headers, url = '' } = request;
      http.request(new URL(url, upstream()), { method, headers, agent }, resolve).on('error', reject).end(body);
    });
    const content = await buffer(answer);
    await proxy.answered(line);
    if (fault === 'answer lost') return void request.socket.destroy();
    if (typeof fault === 'function') {
      const changed = fault(content.toString());
      response.writeHead(answer.statusCode ?? 500, { 'content-length': Buffer.byteLength(changed) });
      return void response.end(changed);
    }
    response.writeHead(answer.statusCode ?? 500, { ...answer.headers, ...proxy.headers });
    if (fault !== 'reset in the body') return void response.end(content);
    response.write(content.subarray(0, content.length / 2), () => request.socket.destroy());
  }

  const server = await listening(
    http.createServer((request, response) => {
      handle(request, response).catch(() => request.socket.destroy());
    }),
    '127.0.0.1',
  );
  const proxy: FaultProxy = {
    endpoint: `http://127.0.0.1:${server.port}`,
    seen: [],
    unchecked: [],
    fault: () => undefined,
    answered: () => {},
    open: false,
    headers: {},
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
  return proxy;
}
