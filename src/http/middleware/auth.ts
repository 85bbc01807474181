import { createHash, timingSafeEqual } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Route } from '../route.ts';
import { sessionToken } from '../session/cookie.ts';
import type { Sessions } from '../session/sessions.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

type Endpoint = Pick<Route, 'method' | 'path'>;

/**
 * Refuses requests that have neither one of the keys nor a session that was begun with one. All requests pass when no
 * keys are configured; requests for open routes and signed links always pass. Runs before the router, so that
 * unauthenticated clients cannot find out which paths exist.
 */
export function authenticate(keys: KeyRing, sessions: Sessions, openRoutes: readonly Endpoint[]): HttpMiddleware {
  let accepted: readonly Buffer[] = [];
  keys.follow(({ apiKey }) => {
    accepted = apiKey.map((key) => digest(Buffer.from(key, 'utf8')));
  });
  return async (ctx, next) => {
    const client = presentedKeys(ctx).find((key) => isAccepted(key, accepted));
    const isOpen = ctx.state.isSigned || isOneOf(ctx, openRoutes);
    ctx.state.hasSession = client === undefined;
    ctx.state.client =
      client === undefined
        ? await sessions.clientOf(sessionToken(ctx)).catch((error: unknown) => {
            if (!isOpen) throw error;
            return undefined;
          })
        : digest(Buffer.from(client, 'latin1')).toString('hex');
    if (ctx.state.client === undefined && sessions.required && !isOpen) {
      ctx.set('WWW-Authenticate', 'Bearer');
      throw new CapstanError(
        'unauthorized',
        'The API key is missing or wrong: send it as "Authorization: Bearer <key>" or as "X-API-Key: <key>".',
      );
    }
    await next();
  };
}

/**
 * Returns whether a request is for one of the routes. Compares `ctx.path`, the string that the router matches, so that
 * no other path can pass for one of them.
 */
export function isOneOf(ctx: HttpContext, routes: readonly Endpoint[]): boolean {
  const asked = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  return routes.some(({ method, path }) => method === asked && isPathOf(path, ctx.path));
}

/** Returns whether a path is that of a route, in which `{id}` stands for one segment. */
function isPathOf(route: string, path: string): boolean {
  if (!route.includes('{')) return route === path;
  const [wanted, given] = [route.split('/'), path.split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  );
}

function presentedKeys(ctx: HttpContext): readonly string[] {
  const bearer = /^bearer +(.+)$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
  return [bearer, ctx.get('X-API-Key')].filter((key) => key !== '');
}

/** Compares digests, which have one length, with every key, so that the time reveals nothing about the keys. */
function isAccepted(presented: string, accepted: readonly Buffer[]): boolean {
  // Node decodes header fields as Latin-1, so this restores the bytes that the client sent.
  const candidate = digest(Buffer.from(presented, 'latin1'));
  return accepted.reduce((found, key) => timingSafeEqual(candidate, key) || found, false);
}

function digest(secret: Buffer): Buffer {
  return createHash('sha256').update(secret).digest();
}
