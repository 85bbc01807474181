import type { Logger } from 'pino';
import { requestedBy } from '../request/requested-by.ts';
import type { HttpMiddleware } from '../state.ts';

/** Logged as the status when the client disconnected before there was one. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Logs one line for each request when its answer was sent or its client disconnected. The line names the client (see
 * `requestedBy`). The query is not logged, because it may hold secrets.
 */
export function accessLog(logger: Logger): HttpMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const { socket } = ctx.req;
    // Not available after the connection was closed.
    const { client_address } = requestedBy(ctx);
    const writtenBefore = socket.bytesWritten;
    ctx.res.once('close', () => {
      const finished = ctx.res.writableFinished;
      const line = {
        request_id: ctx.state.requestId,
        method: ctx.method,
        path: ctx.path,
        status: finished || ctx.res.headersSent ? ctx.res.statusCode : CLIENT_CLOSED_REQUEST,
        duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
        // Bytes that were sent, head and body.
        bytes: socket.bytesWritten - writtenBefore,
        ...requestedBy(ctx),
        client_address,
        ...(ctx.state.captureId === undefined ? {} : { capture_id: ctx.state.captureId }),
        ...(ctx.state.batch === undefined ? {} : { batch: ctx.state.batch }),
        ...(finished ? {} : { aborted: true }),
      };
      if (line.status >= 500) logger.warn(line, 'request');
      else logger.info(line, 'request');
    });
    await next();
  };
}
