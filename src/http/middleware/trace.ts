import type { HttpMiddleware } from '../state.ts';

/** Traces requests; see `src/tracing/`. */
export interface RequestTracing {
  request<T>(
    request: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    },
    answered: Promise<{ readonly route: string | undefined; readonly status: number }>,
    work: () => T,
  ): T;
}

/** Runs each request in a span, which ends with its answer or its connection. */
export function traceRequests(tracing: RequestTracing): HttpMiddleware {
  return (ctx, next) => {
    const answered = new Promise<{ route: string | undefined; status: number }>((resolve) => {
      ctx.res.once('close', () => resolve({ route: ctx.state.route, status: ctx.res.statusCode }));
    });
    return tracing.request({ method: ctx.method, headers: ctx.req.headers }, answered, next);
  };
}

/** Notes the path of the route, by which requests are grouped. */
export function noteRoute(path: string): HttpMiddleware {
  return (ctx, next) => {
    ctx.state.route = path;
    return next();
  };
}
