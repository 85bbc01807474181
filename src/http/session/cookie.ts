import { publicPath, publicScheme } from '../request/public-address.ts';
import type { HttpContext } from '../state.ts';
import { SESSION_MS } from './sessions.ts';

/** Cookies ignore ports: services at two ports of a host would end each other's sessions with one name. */
function nameOf(ctx: HttpContext): string {
  const [, port] = /:(\d+)$/.exec(ctx.get('Host')) ?? [];
  return port === undefined ? 'capstan_session' : `capstan_session_${port}`;
}

/**
 * Returns the session token of a request that was made by our own page; `''` for others. `SameSite=Strict` keeps other
 * sites out, but not other ports and subdomains of this host, whose pages could make requests with the cookie as well.
 */
export function sessionToken(ctx: HttpContext): string {
  return isFromOwnPage(ctx) ? (ctx.cookies.get(nameOf(ctx)) ?? '') : '';
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
  ctx.cookies.set(nameOf(ctx), token, {
    httpOnly: true,
    sameSite: 'strict',
    path: publicPath(ctx, '/'),
    overwrite: true,
    ...(token === '' ? { expires: new Date(0) } : { maxAge: SESSION_MS }),
  });
  // Koa refuses `Secure` on a connection without TLS, although a proxy in front may have ended it.
  if (!ctx.secure && publicScheme(ctx) === 'https')
    ctx.set(
      'Set-Cookie',
      [ctx.response.get('Set-Cookie')].flat().map((cookie) => `${cookie}; secure`),
    );
}
