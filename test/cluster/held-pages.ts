import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A server that holds its pages back, and counts the concurrent requests for them. */
export interface HeldPages extends AsyncDisposable {
  /** Returns the URL of a new page on each call. */
  url(): string;
  /** URLs of the pages, in the order in which they were first requested. */
  readonly order: readonly string[];
  /** Number of requests for pages. */
  readonly requested: number;
  /** Number of pages that browsers wait for now. */
  readonly waiting: number;
  /** Largest number of pages that browsers waited for since the last call of `reset`. */
  readonly most: number;
  reset(): void;
  /** Sends pages after this time from now on, in milliseconds. Sends those that are waiting at once. */
  hold(ms: number): void;
}

/** `holdMs`: time after which pages are sent, in milliseconds. `Infinity` holds them until `hold` is called. */
export async function startHeldPages(holdMs: number): Promise<HeldPages> {
  let held = holdMs;
  let most = 0;
  let requested = 0;
  let pages = 0;
  const order = new Set<string>();
  /** Sends the page of each waiting request. */
  const waiting = new Map<ServerResponse, () => void>();
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/page')) return void response.writeHead(404).end();
    requested += 1;
    order.add(`http://${request.headers.host}${request.url}`);
    const send = () => {
      waiting.delete(response);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>held');
    };
    waiting.set(response, send);
    most = Math.max(most, waiting.size);
    response.once('close', () => waiting.delete(response));
    if (held !== Number.POSITIVE_INFINITY) setTimeout(() => waiting.has(response) && send(), held);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: () => {
      pages += 1;
      return `http://127.0.0.1:${address.port}/page${pages}`;
    },
    get order() {
      return [...order];
    },
    get requested() {
      return requested;
    },
    get waiting() {
      return waiting.size;
    },
    get most() {
      return most;
    },
    reset() {
      most = waiting.size;
    },
    hold(ms) {
      held = ms;
      for (const send of [...waiting.values()]) send();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
