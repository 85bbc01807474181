import type { HttpContext } from '../state.ts';

/*
 * The address by which a client reaches the service, where a proxy ends TLS or serves it below a path. A client that
 * sends these headers itself changes its own answers alone.
 */

/** Returns the scheme of the client's own connection: of several proxies, the first one wrote it. */
export function publicScheme(ctx: HttpContext): 'http' | 'https' {
  const [first = ''] = ctx.get('X-Forwarded-Proto').split(',');
  return ctx.secure || first.trim().toLowerCase() === 'https' ? 'https' : 'http';
}

/** Returns the path below which a proxy serves the service: `/capstan`, or `''`. */
function publicPrefix(ctx: HttpContext): string {
  const parts = ctx.get('X-Forwarded-Prefix').split(',');
  const prefix = parts.map((part) => part.trim().replace(/\/+$/, '')).join('');
  return /^(?:\/[\w.~-]+)+$/.test(prefix) ? prefix : '';
}

/** Returns the path by which the client reaches a path of this service. */
export function publicPath(ctx: HttpContext, path: string): string {
  return `${publicPrefix(ctx)}${path}`;
}

/** Returns the URL by which the client reaches the service. */
export function publicUrl(ctx: HttpContext): string {
  return `${publicScheme(ctx)}://${ctx.host}${publicPrefix(ctx)}`;
}
