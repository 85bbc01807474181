import { isLoopbackHost } from '../middleware/allowed-hosts.ts';
import type { HttpContext } from '../state.ts';

/**
 * Returns whether a page of another origin may have sent a request: any page can make its visitors' browsers send GET
 * requests, because these need no CORS permission. Shown to be harmless are
 *
 * - requests of our own pages and of the address bar, by `Sec-Fetch-Site`; where browsers omit it (without TLS, except
 *   on loopback), requests of our own pages by `Origin` or `Referer`, which pages cannot forge;
 * - programs, by a `User-Agent` that is not a browser's: pages can change it only in requests that need permission.
 *
 * On loopback, browsers send `Sec-Fetch-Site`, so requests without it are of programs.
 */
export function mayBeOfOtherPage(ctx: HttpContext): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  if (isOnLoopback(ctx)) return false;
  const from = ctx.get('Origin') || ctx.get('Referer');
  if (from !== '') return URL.parse(from)?.host !== ctx.get('Host').toLowerCase();
  return !/^(?!Mozilla\/|Opera\/)\S/i.test(ctx.get('User-Agent'));
}

function isOnLoopback(ctx: HttpContext): boolean {
  const { remoteAddress = '' } = ctx.req.socket;
  return isLoopbackHost(ctx.get('Host')) && isLoopbackHost(remoteAddress.replace(/^::ffff:/i, ''));
}
