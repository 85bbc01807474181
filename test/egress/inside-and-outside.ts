import http from 'node:http';
import { type Listening, listening } from './listening.ts';

/**
 * A server on the inside that nobody may reach, by any spelling of loopback: ::1 and all of 127.0.0.0/8. `visited` is
 * told of each connection and of each URL that is asked for all the same.
 */
export function serveSecret(visited: (by: string) => void): Promise<Listening> {
  const secret = http.createServer((request, response) => {
    visited(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('secret');
  });
  secret.on('connection', () => visited('connection'));
  return listening(secret, '::');
}

/** A page's own server: `/redirect` leads to where `redirect` says, all else is `page`. */
export function servePage(page: () => string, redirect: () => string): Promise<Listening> {
  const site = http.createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: redirect() }).end();
    else response.setHeader('content-type', 'text/html').end(page());
  });
  return listening(site);
}
