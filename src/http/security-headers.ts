import type { HttpMiddleware } from './state.ts';

/**
 * No answer is to be sniffed, framed, or kept by a cache; what may be (an image) or needs another policy (an HTML
 * copy) says so itself, afterwards.
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
