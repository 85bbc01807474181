import { createHash, timingSafeEqual } from 'node:crypto';
import { CapstanError } from '../capture/errors.ts';
import type { HttpContext, HttpMiddleware } from './state.ts';

/**
 * Lets requests with one of the keys through, and all of them when there are no keys; `GET` and `HEAD` of the open paths
 * need none. It stands before the router, so
 * that an unknown path tells a stranger nothing.
 */
export function authenticate(apiKeys: readonly string[], openPaths: readonly string[]): HttpMiddleware {
  const accepted = apiKeys.map((key) => digest(Buffer.from(key, 'utf8')));
  return async (ctx, next) => {
    const client = presentedKeys(ctx).find((key) => isAccepted(key, accepted));
    if (client !== undefined) ctx.state.client = digest(Buffer.from(client, 'latin1')).toString('hex');
    else if (accepted.length > 0 && !isOpen(ctx, openPaths)) {
      ctx.set('WWW-Authenticate', 'Bearer');
      throw new CapstanError(
        'unauthorized',
        'The API key is missing or wrong: send it as "Authorization: Bearer <key>" or as "X-API-Key: <key>".',
      );
    }
    await next();
  };
}

/** `ctx.path` is the very string that the router matches, so what looks like an open path cannot be another one. */
function isOpen(ctx: HttpContext, openPaths: readonly string[]): boolean {
  return (ctx.method === 'GET' || ctx.method === 'HEAD') && openPaths.includes(ctx.path);
}

function presentedKeys(ctx: HttpContext): readonly string[] {
  const bearer = /^bearer +(.+)$/i.exec(ctx.get('Authorization'))?.[1] ?? '';
  return [bearer, ctx.get('X-API-Key')].filter((key) => key !== '');
}

/** Digests have one length, and every key is compared, so that the time says nothing about how near a guess was. */
function isAccepted(presented: string, accepted: readonly Buffer[]): boolean {
  // Node reads header fields as Latin-1: these are the bytes that the client sent.
  const candidate = digest(Buffer.from(presented, 'latin1'));
  return accepted.reduce((found, key) => timingSafeEqual(candidate, key) || found, false);
}

function digest(secret: Buffer): Buffer {
  return createHash('sha256').update(secret).digest();
}
