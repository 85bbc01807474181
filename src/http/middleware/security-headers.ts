import type { HttpMiddleware } from '../state.ts';

/**
 * Forbids sniffing, framing and caching of every answer. Handlers override this where an answer may be cached (images)
 * or needs another policy (HTML snapshots).
 */
export function securityHeaders(): HttpMiddleware {
  return async (ctx, next) => {
    ctx.set({
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
    });
    await next();
  };
}
