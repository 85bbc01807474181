import { createHash, timingSafeEqual } from 'node:crypto';
import { CapstanError } from '../../capture/errors.ts';
import type { HttpContext, HttpMiddleware } from '../state.ts';

/**
 * Refuses requests without one of the keys. Without configured keys all requests pass, and `GET` and `HEAD` of the open
 * paths always do. It runs before the router, so that unauthenticated clients cannot find out which paths exist.
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

/** Compares `ctx.path`, the string that the router matches, so that no other path can pass for an open one. */
function isOpen(ctx: HttpContext, openPaths: readonly string[]): boolean {
  return (ctx.method === 'GET' || ctx.method === 'HEAD') && openPaths.includes(ctx.path);
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
