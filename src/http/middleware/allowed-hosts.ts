import { BlockList, isIP } from 'node:net';
import { CapstanError } from '../../capture/errors.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Refuses requests whose `Host` does not belong to this service. A web page can point its own name at our address (DNS
 * rebinding) and read our answers as same-origin, but its requests still carry that name.
 *
 * Allowed are loopback addresses, `localhost` and its subdomains, the address that the client connected to, and
 * `names`. Ports are ignored. Browsers never omit `Host`, so requests without it pass.
 */
export function allowHosts(names: readonly string[]): HttpMiddleware {
  const allowed = new Set(names.map(hostOf));
  return async (ctx, next) => {
    const given = ctx.get('Host');
    const host = hostOf(given);
    if (given !== '' && (host === undefined || !(isLoopback(host) || isDialled(ctx, host) || allowed.has(host)))) {
      throw new CapstanError(
        'host_not_allowed',
        `The Host ${JSON.stringify(given)} is not allowed without an API key: use a loopback address, or start the service with --allowed-hosts or --api-key.`,
      );
    }
    await next();
  };
}

/** Returns the normalised host of `host:port`, IPv6 without brackets; undefined when it is invalid. */
function hostOf(authority: string): string | undefined {
  const bracketed = isIP(authority) === 6 ? `[${authority}]` : authority;
  if (/[\s/?#@\\]/.test(bracketed)) return undefined;
  const { hostname } = URL.parse(`http://${bracketed}`) ?? {};
  return hostname?.replace(/^\[|\]$|\.$/g, '');
}

/** Returns whether a value of `Host`, or an address, is loopback. */
export function isLoopbackHost(given: string): boolean {
  const host = hostOf(given);
  return host !== undefined && isLoopback(host);
}

function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version !== 0) return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
  return host === 'localhost' || host.endsWith('.localhost');
}

/** Returns whether the host is the address that the client connected to, which DNS rebinding cannot change. */
function isDialled(ctx: HttpContext, host: string): boolean {
  const { localAddress = '' } = ctx.req.socket;
  return isIP(host) !== 0 && hostOf(localAddress.replace(/^::ffff:/i, '')) === host;
}
