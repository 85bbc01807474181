import { randomUUID } from 'node:crypto';
import type { HttpMiddleware } from '../state.ts';

/** Short ids that are safe in log lines and headers. */
const SANE = /^[\w.:-]{1,128}$/;

export function sanitizeRequestId(offered: string | undefined): string {
  return offered !== undefined && SANE.test(offered) ? offered : randomUUID();
}

/** Gives the request an id, or keeps a valid id that the client sent. Every answer has the id. */
export function requestId(): HttpMiddleware {
  return async (ctx, next) => {
    ctx.state.requestId = sanitizeRequestId(ctx.get('X-Request-Id'));
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}
