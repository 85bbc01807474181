import type Router from '@koa/router';
import type { CaptureService } from '../../service/capture-service.ts';
import { answer } from '../envelope.ts';
import { jsonBody } from '../json-body.ts';
import { parseOrRefuse } from '../problems.ts';
import { LimitsChangeSchema } from '../schemas/limits.ts';
import type { HttpState } from '../state.ts';

/** How much there is to do, and how much may be asked for. */
export function limitsRoutes(router: Router<HttpState>, service: CaptureService): void {
  router.get('/pressure', (ctx) => answer(ctx, service.pressure()));

  router.patch('/limits', ...jsonBody(), (ctx) => {
    const change = parseOrRefuse(LimitsChangeSchema, ctx.request.body);
    answer(ctx, service.setLimits(change), 'The limits are in force.');
  });
}
