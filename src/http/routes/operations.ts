import type Router from '@koa/router';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import { answer } from '../envelope.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { HttpState } from '../state.ts';

/** For those who run the service. */
export function operationsRoutes(router: Router<HttpState>, service: CaptureService, document: OpenApiDocument): void {
  router.get('/livez', (ctx) => answer(ctx, { status: 'live' }));

  router.get('/readyz', (ctx) => {
    const { readiness } = service;
    if (!readiness.ready) throw new CapstanError(readiness.code, readiness.reason);
    answer(ctx, { status: 'ready' });
  });

  router.get('/stats', (ctx) => answer(ctx, service.stats()));

  router.get('/openapi.json', (ctx) => {
    ctx.type = 'json';
    ctx.body = document;
  });
}
