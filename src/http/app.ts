import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { CapstanError } from '../capture/errors.ts';
import type { CaptureService } from '../service/capture-service.ts';
import { accessLog } from './access-log.ts';
import { authenticate } from './auth.ts';
import { answerErrors } from './errors.ts';
import { idempotent } from './idempotency.ts';
import { unanswered } from './method-not-allowed.ts';
import { openApiDocument } from './openapi/document.ts';
import { requestId } from './request-id.ts';
import { batchRoutes } from './routes/batch.ts';
import { type EventsOptions, eventsRoutes } from './routes/events.ts';
import { jobsRoutes } from './routes/jobs.ts';
import { limitsRoutes } from './routes/limits.ts';
import { operationsRoutes } from './routes/operations.ts';
import { resultsRoutes } from './routes/results.ts';
import { screenshotRoutes } from './routes/screenshot.ts';
import { screenshotsRoutes } from './routes/screenshots.ts';
import { type RequestLimits, requestSchemas } from './schemas/requests.ts';
import { securityHeaders } from './security-headers.ts';
import type { HttpState } from './state.ts';

export interface HttpOptions extends RequestLimits {
  /** Any of them will do; none: no check is made. */
  readonly apiKeys: readonly string[];
  /** How long a sender of a streamed body may send nothing while it is waited for, in milliseconds. */
  readonly silenceMs?: number;
  readonly logger: Logger;
  readonly events?: Partial<EventsOptions>;
}

/** A sender may have to wait for what it reads from. */
const SILENCE_MS = 300_000;

/** The HTTP contract, as a user of the service: in this order a request meets what stands between it and its route. */
export function createHttpApp(service: CaptureService, options: HttpOptions): Koa<HttpState> {
  const app = new Koa<HttpState>();
  app.use(requestId());
  app.use(accessLog(options.logger));
  app.use(securityHeaders());
  app.use(answerErrors(options.logger));
  app.use(authenticate(options.apiKeys));

  const router = createRoutes(service, options);
  app.use(router.routes());
  app.use(unanswered(router));
  app.on('error', logBrokenAnswer(options.logger));
  return app;
}

function createRoutes(
  service: CaptureService,
  { silenceMs = SILENCE_MS, logger, ...limits }: HttpOptions,
): Router<HttpState> {
  // Exactly the paths of the contract: no other case, no slash at the end.
  const router = new Router<HttpState>({ sensitive: true, strict: true });
  const requestLimits = { ...limits, callbacks: service.takesCallbacks };
  const schemas = requestSchemas(requestLimits);
  const once = idempotent(service, logger);
  screenshotRoutes(router, service, schemas, once);
  batchRoutes(router, service, schemas, { ...limits, silenceMs }, once);
  screenshotsRoutes(router, service);
  resultsRoutes(router, service);
  eventsRoutes(router, service, limits.events);
  jobsRoutes(router, service);
  limitsRoutes(router, service);
  operationsRoutes(router, service, openApiDocument(requestLimits));
  return router;
}

/** An answer that broke off after its head was sent. Its connection is closed by then, which is all that can be said. */
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
    } else if (error instanceof CapstanError && error.code !== 'internal') {
      logger.info(line, 'the answer was broken off');
    } else {
      logger.error(line, 'the answer broke off');
    }
  };
}
