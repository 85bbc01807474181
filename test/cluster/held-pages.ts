import { once } from 'node:events';
import { createServer } from 'node:http';

/** A server that sends its pages after a delay, and counts the concurrent requests for them. */
export interface HeldPages extends AsyncDisposable {
  /** Returns the URL of a new page on each call. */
  url(): string;
  /** Number of pages that browsers wait for now. */
  readonly waiting: number;
  /** Largest number of pages that browsers waited for since the last call of `reset`. */
  readonly most: number;
  reset(): void;
}

export async function startHeldPages(holdMs: number): Promise<HeldPages> {
  let waiting = 0;
  let most = 0;
  let pages = 0;
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/page')) return void response.writeHead(404).end();
    waiting += 1;
    most = Math.max(most, waiting);
    response.once('close', () => {
      waiting -= 1;
    });
    setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>held'), holdMs);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: () => {
      pages += 1;
      return `http://127.0.0.1:${address.port}/page${pages}`;
    },
    get waiting() {
      return waiting;
    },
    get most() {
      return most;
    },
    reset() {
      most = waiting;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
