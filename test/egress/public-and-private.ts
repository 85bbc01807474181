import http from 'node:http';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Listening, listening } from './listening.ts';

/** A private server that pages must not reach, and a public server with a page that the test sets. */
export interface PublicAndPrivate {
  readonly privatePort: number;
  readonly publicPort: number;
  /** Connections and URLs that reached the private server since the test began. */
  readonly visits: string[];
  /** Body of every answer of the public server. */
  page: string;
  /** Target of `/redirect` on the public server. */
  redirect: string;
}

export function publicAndPrivate(): PublicAndPrivate {
  const visits: string[] = [];
  let privateServer: Listening;
  let publicServer: Listening;
  const servers: PublicAndPrivate = {
    visits,
    page: '',
    redirect: '',
    get privatePort() {
      return privateServer.port;
    },
    get publicPort() {
      return publicServer.port;
    },
  };
  beforeAll(async () => {
    privateServer = await serveSecret((by) => visits.push(by));
    publicServer = await servePage(
      () => servers.page,
      () => servers.redirect,
    );
  });
  afterAll(async () => {
    await publicServer?.[Symbol.asyncDispose]();
    await privateServer?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    visits.length = 0;
  });
  return servers;
}

/**
 * Starts a server on ::1 and all of 127.0.0.0/8, so that it is found by any spelling of loopback. Calls `visited` for
 * each connection and each requested URL.
 */
function serveSecret(visited: (by: string) => void): Promise<Listening> {
  const secret = http.createServer((request, response) => {
    visited(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('secret');
  });
  secret.on('connection', () => visited('connection'));
  return listening(secret, '::');
}

/** Starts the page's own server: `/redirect` redirects to `redirect()`, every other path answers with `page()`. */
function servePage(page: () => string, redirect: () => string): Promise<Listening> {
  const site = http.createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: redirect() }).end();
    else response.setHeader('content-type', 'text/html').end(page());
  });
  return listening(site);
}
