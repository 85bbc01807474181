import type { HttpContext } from '../state.ts';
import { SESSION_MS } from './sessions.ts';

const NAME = 'capstan_session';

/**
 * Returns the session token of a request that was made by our own page; `''` for others. `SameSite=Strict` keeps other
 * sites out, but not other ports and subdomains of this host, whose pages could make requests with the cookie as well.
 */
export function sessionToken(ctx: HttpContext): string {
  return isFromOwnPage(ctx) ? (ctx.cookies.get(NAME) ?? '') : '';
}

function isFromOwnPage(ctx: HttpContext): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  const site = ctx.get('Sec-Fetch-Site');
  // `none`: the user typed the address or opened a bookmark.
  if (site !== '') return site === 'same-origin' || (site === 'none' && isRead);
  // Browsers omit Sec-Fetch-Site without TLS, except on loopback.
  const origin = ctx.get('Origin');
  return origin === '' ? isRead : URL.parse(origin)?.host === ctx.get('Host');
}

/** Gives the browser a session; `''` ends it. Without `Max-Age`, the cookie would end with the browser. */
export function setSessionCookie(ctx: HttpContext, token: string): void {
  ctx.cookies.set(NAME, token, {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    overwrite: true,
    ...(token === '' ? { expires: new Date(0) } : { maxAge: SESSION_MS }),
  });
  // Koa refuses `Secure` on a connection without TLS, although a proxy in front may have ended it.
  if (!ctx.secure && ctx.get('X-Forwarded-Proto') === 'https')
    ctx.set(
      'Set-Cookie',
      [ctx.response.get('Set-Cookie')].flat().map((cookie) => `${cookie}; secure`),
    );
}
