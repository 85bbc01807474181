import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { visibleKey } from '../capture/client.ts';
import { toFailure } from '../capture/errors.ts';
import { requestSchemas } from '../capture/request.ts';
import type { HttpConfig } from '../config/slices.ts';
import { createPlaces } from '../fairness/share.ts';
import { createGroupings } from '../grouping/groupings.ts';
import { RunningCalls } from '../mcp/running-calls.ts';
import type { CaptureService } from '../service/capture-service.ts';
import { type Access, openAccess } from './keys/access.ts';
import { callerOf, identifyCaller, requireScope } from './keys/callers.ts';
import type { KeyRing } from './keys/key-ring.ts';
import { makerViews } from './keys/makers.ts';
import { createRateLimits } from './keys/rate-limits.ts';
import { createFanOut, type FanOutOptions, ownEvents } from './live/fan-out.ts';
import { KEEP_ALIVE_MS } from './live/frames.ts';
import { accessLog } from './middleware/access-log.ts';
import { allowHosts } from './middleware/allowed-hosts.ts';
import { authenticate } from './middleware/auth.ts';
import { allowOrigins } from './middleware/cors.ts';
import { answerErrors } from './middleware/errors.ts';
import { idempotent } from './middleware/idempotency.ts';
import { unanswered } from './middleware/method-not-allowed.ts';
import { requestId } from './middleware/request-id.ts';
import { requireHost } from './middleware/require-host.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { signedLinks } from './middleware/signed-links.ts';
import { noteRoute, type RequestTracing, traceRequests } from './middleware/trace.ts';
import { openApiDocument } from './openapi/document.ts';
import { requestedBy } from './request/requested-by.ts';
import { type OperationsContext, type Route, type RouteContext, type RouteHandler, scopeOf } from './route.ts';
import { ROUTES, WORKER_ROUTES } from './routes/all.ts';
import { createLoginLimits } from './session/login-limits.ts';
import type { HttpMiddleware, HttpState } from './state.ts';
import { docsPage } from './web/docs-page.ts';
import { webInterface } from './web/web-interface.ts';

/** Parts that every HTTP application needs besides the configuration. */
interface CommonParts {
  readonly keyRing: KeyRing;
  readonly logger: Logger;
  readonly tracing?: RequestTracing | undefined;
}

export interface HttpParts extends CommonParts {
  /** Maximum silence of the sender of a streamed body while the service waits for it, in milliseconds. */
  readonly silenceMs?: number;
  readonly events?: Partial<FanOutOptions>;
  /** Directory of the built web interface. @default that of the package */
  readonly uiDirectory?: string;
  /** Directory of the built page of the API's documentation. @default that of the package */
  readonly docsDirectory?: string;
}

/** Five minutes: a sender may itself wait for its source. */
const SILENCE_MS = 300_000;

const EVENTS: FanOutOptions = {
  // Holds the events of about one minute of a busy service. A slower subscriber is disconnected, and reads the missed
  // events from the log when it reconnects.
  bufferBytes: 1024 * 1024,
  keepAliveMs: KEEP_ALIVE_MS,
};

/** Builds the HTTP application of a service. */
export function createHttpApp(service: CaptureService, config: HttpConfig, parts: HttpParts): Koa<HttpState> {
  // Where there is no database, nothing keeps which sessions have ended.
  const ended = service.results.state === 'off' ? undefined : service.idempotency;
  const access = openAccess(parts.keyRing, config.isolateKeys, ended);
  const web = [webInterface(parts.uiDirectory), docsPage(parts.docsDirectory)];
  const router = createRoutes(service, access, config, parts);
  return createApp({ ...access, router, routes: ROUTES, web }, config, parts);
}

/** Builds the HTTP application of a worker of a cluster: probes and figures. */
export function createWorkerApp(
  service: OperationsContext['service'],
  config: HttpConfig,
  parts: CommonParts,
): Koa<HttpState> {
  const router = createRouter();
  for (const { path, method, handler } of WORKER_ROUTES) router.register(path, [method], handler({ service }));
  // A worker has no logins. Without a store, it accepts no session of an api node.
  const access = openAccess(parts.keyRing, config.isolateKeys, undefined);
  return createApp({ ...access, router, routes: WORKER_ROUTES }, config, parts);
}

interface Interface extends Access {
  readonly router: Router<HttpState>;
  readonly routes: readonly Pick<Route, 'method' | 'path' | 'isOpen' | 'isSignable'>[];
  /** Middleware for the pages that browsers get without an API key. */
  readonly web?: readonly HttpMiddleware[];
}

/** Middleware runs in this order. */
function createApp(
  { router, routes, keys, sessions, identify, web = [] }: Interface,
  { host, apiKey, allowedHosts, signingKey, corsOrigins }: HttpConfig,
  { logger, tracing }: CommonParts,
): Koa<HttpState> {
  const app = new Koa<HttpState>();
  app.use(requestId());
  if (tracing !== undefined) app.use(traceRequests(tracing));
  app.use(accessLog(logger));
  app.use(securityHeaders());
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(answerErrors(logger));
  app.use(requireHost());
  if (apiKey.length === 0) app.use(allowHosts([host, ...allowedHosts]));
  for (const serve of web) app.use(serve);
  app.use(
    signedLinks(
      signingKey,
      routes.filter(({ isSignable }) => isSignable),
    ),
  );
  app.use(
    authenticate(
      keys,
      sessions,
      routes.filter(({ isOpen }) => isOpen),
    ),
  );
  app.use(identifyCaller(identify));
  app.use(router.routes());
  app.use(unanswered(router));
  app.on('error', logBrokenAnswer(logger));
  return app;
}

/** Paths match exactly: upper and lower case differ, and a trailing slash is not ignored. */
function createRouter(): Router<HttpState> {
  return new Router<HttpState>({ sensitive: true, strict: true });
}

function createRoutes(
  service: CaptureService,
  { keys, sessions, identify }: Access,
  config: HttpConfig,
  { silenceMs = SILENCE_MS, logger, events, tracing }: HttpParts,
): Router<HttpState> {
  const router = createRouter();
  const requestLimits = { ...config, callbacks: service.takesCallbacks };
  let document: string | undefined;
  const context: RouteContext = {
    service,
    schemas: requestSchemas(requestLimits),
    config,
    silenceMs,
    fanOut: createFanOut(service.feed, { ...EVENTS, ...events }),
    subscribers: createPlaces(() => config.maxSubscribers),
    rates: createRateLimits(() => performance.now()),
    once: idempotent(service, logger),
    groupings: createGroupings(),
    agentCalls: new RunningCalls(),
    viewOf: makerViews(keys, config.isolateKeys, service),
    log: logger,
    sessions,
    logins: createLoginLimits(() => performance.now()),
    noteLogin: (ctx) => {
      ctx.state.caller = identify(ctx.state.client);
      logger.info({ request_id: ctx.state.requestId, ...requestedBy(ctx) }, 'a session has begun');
    },
    // Created on first request: costs 55 ms of CPU, and its JSON 7 ms.
    document: () => {
      document ??= JSON.stringify(openApiDocument(requestLimits));
      return document;
    },
  };
  for (const route of ROUTES) {
    const { path, method, needsDatabase, isOpen } = route;
    // Scope and database are checked before the request is validated.
    const middleware = [
      ...(tracing === undefined ? [] : [noteRoute(path)]),
      ...(isOpen ? [] : [scopeRequired(route)]),
      ...(needsDatabase ? [databaseRequired(service.results)] : []),
      perClient(route, context, service.onlyOf),
    ];
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], middleware);
  }
  return router;
}

/** Handles requests with the part of the service that the client may see: all, or the captures of its own key. */
function perClient(route: Route, context: RouteContext, onlyOf: CaptureService['onlyOf']): RouteHandler {
  const handleAll = route.handler(context);
  const handlers = new Map<string, RouteHandler>();
  const handlerOf = (key: string): RouteHandler => {
    const known = handlers.get(key);
    if (known !== undefined) return known;
    const handler = route.handler({ ...context, service: onlyOf(key), fanOut: ownEvents(context.fanOut, key) });
    handlers.set(key, handler);
    return handler;
  };
  return (ctx) => {
    const key = visibleKey(callerOf(ctx));
    return (key === undefined ? handleAll : handlerOf(key))(ctx);
  };
}

function scopeRequired(route: Route): HttpMiddleware {
  return async (ctx, next) => {
    requireScope(ctx, scopeOf(route, callerOf(ctx).isIsolated));
    await next();
  };
}

function databaseRequired(results: CaptureService['results']): HttpMiddleware {
  return async (_ctx, next) => {
    // Throws the failure that says why there is no database.
    if (results.state !== 'up') await results.page({ by: 'all' }, 1);
    await next();
  };
}

/** Logs an answer that failed after its head was sent. Its connection is already closed. */
function logBrokenAnswer(logger: Logger) {
  return (error: NodeJS.ErrnoException, ctx?: { readonly state: HttpState }) => {
    const line = { request_id: ctx?.state.requestId, err: error };
    if (
      error.code === 'ERR_STREAM_PREMATURE_CLOSE' ||
      error.code === 'ECONNRESET' ||
      error.code === 'EPIPE' ||
      error.code === 'cancelled'
    ) {
      logger.debug(line, 'the client went away during the answer');
    } else {
      const { code } = toFailure(error);
      logger[code === 'internal' ? 'error' : 'info'](line, `the answer failed after its head: ${code}`);
    }
  };
}
