import { randomUUID } from 'node:crypto';
import type { HttpMiddleware } from './state.ts';

/** Short, and nothing that could break a log line or a header. */
const SANE = /^[\w.:-]{1,128}$/;

export function sanitizeRequestId(offered: string | undefined): string {
  return offered !== undefined && SANE.test(offered) ? offered : randomUUID();
}

/** Names the request, and says the name in every answer. */
export function requestId(): HttpMiddleware {
  return async (ctx, next) => {
    ctx.state.requestId = sanitizeRequestId(ctx.get('X-Request-Id'));
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}
