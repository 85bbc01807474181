import { createServer, type RequestListener } from 'node:http';
import { type Listening, listening } from '../egress/listening.ts';
import { freePort } from '../support/free-port.ts';

/** A server at every address of 127.0.0.0/8. */
export interface Hosts extends Listening {
  /** A port on which nothing listens. */
  readonly closedPort: number;
  /** `127.0.0.2:<port>/x`, as it was requested, in the order of the requests; without favicons. */
  readonly visits: readonly string[];
  /** Number of requests that were answered at the same time, at most, by host. */
  readonly most: ReadonlyMap<string, number>;
}

/** Starts a server whose pages are answered by `answer`. */
export async function startHosts(answer: RequestListener): Promise<Hosts> {
  const visits: string[] = [];
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const server = createServer((request, response) => {
    const { host = '' } = request.headers;
    if (request.url === '/favicon.ico') return void response.writeHead(404).end();
    visits.push(`${host}${request.url}`);
    const now = (running.get(host) ?? 0) + 1;
    running.set(host, now);
    most.set(host, Math.max(now, most.get(host) ?? 0));
    response.once('close', () => running.set(host, (running.get(host) ?? 1) - 1));
    return answer(request, response);
  });
  const place = await listening(server, '0.0.0.0');
  const closedPort = await freePort();
  return { ...place, closedPort, visits, most, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

/** Answers a page whose title is its host and path. */
export const titledPage: RequestListener = (request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/html', Server: 'hosts/1' });
  response.end(`<!doctype html><title>${request.headers.host}${request.url}</title><h1>${request.url}</h1>`);
};
