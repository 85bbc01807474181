import { checkSignedTarget, claimsSignature } from '../../capture/finding/signed-link.ts';
import type { Route } from '../route.ts';
import type { HttpMiddleware } from '../state.ts';
import { isOneOf } from './auth.ts';

/**
 * Checks the signature of a link to one of the routes, which then needs no API key. A link without a signature is left
 * to `authenticate`. Throws `link_refused` when the signature is invalid, even if the request has a valid API key: a
 * link that was changed is an error.
 */
export function signedLinks(
  keys: readonly string[],
  routes: readonly Pick<Route, 'method' | 'path'>[],
): HttpMiddleware {
  return async (ctx, next) => {
    if (isOneOf(ctx, routes) && claimsSignature(ctx.url)) {
      checkSignedTarget(ctx.url, keys, Date.now());
      ctx.state.isSigned = true;
    }
    await next();
  };
}
