import cors from '@koa/cors';
import type { HttpMiddleware } from '../state.ts';

/** Response headers that programs need, besides those that every page may read. */
const EXPOSED =
  'ETag, Link, Location, Mcp-Session-Id, Retry-After, X-Capture-Cached, X-Capture-Id, X-Capture-Truncated, X-Capture-Verdict, X-Request-Id';
/** Time for which a browser may remember that an origin is allowed, in seconds. */
const MAX_AGE_S = 600;

/**
 * Lets pages of these origins send requests and read the responses. These pages authenticate with an API key, because
 * their cookies are not accepted. All remaining origins get no CORS headers, so browsers refuse their requests.
 */
export function allowOrigins(origins: readonly string[]): HttpMiddleware {
  return cors({
    origin: ({ request }) => {
      const origin = request.get('Origin');
      return origins.includes(origin) ? origin : '';
    },
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE_S,
  });
}
