import http from 'node:http';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Listening, listening } from './listening.ts';

/** A server on the inside, and a page's own on the outside, for a suite. */
export interface InsideAndOutside {
  readonly insidePort: number;
  readonly outsidePort: number;
  /** What came to the inside since the test began. */
  readonly visits: string[];
  /** What the outside answers. */
  page: string;
  /** Where `/redirect` of the outside leads. */
  redirect: string;
}

export function insideAndOutside(): InsideAndOutside {
  const visits: string[] = [];
  let inside: Listening;
  let outside: Listening;
  const ground: InsideAndOutside = {
    visits,
    page: '',
    redirect: '',
    get insidePort() {
      return inside.port;
    },
    get outsidePort() {
      return outside.port;
    },
  };
  beforeAll(async () => {
    inside = await serveSecret((by) => visits.push(by));
    outside = await servePage(
      () => ground.page,
      () => ground.redirect,
    );
  });
  afterAll(async () => {
    await outside?.[Symbol.asyncDispose]();
    await inside?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    visits.length = 0;
  });
  return ground;
}

/**
 * A server on the inside that nobody may reach, by any spelling of loopback: ::1 and all of 127.0.0.0/8. `visited` is
 * told of each connection and of each URL that is asked for all the same.
 */
function serveSecret(visited: (by: string) => void): Promise<Listening> {
  const secret = http.createServer((request, response) => {
    visited(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('secret');
  });
  secret.on('connection', () => visited('connection'));
  return listening(secret, '::');
}

/** A page's own server: `/redirect` leads to where `redirect` says, all else is `page`. */
function servePage(page: () => string, redirect: () => string): Promise<Listening> {
  const site = http.createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: redirect() }).end();
    else response.setHeader('content-type', 'text/html').end(page());
  });
  return listening(site);
}
