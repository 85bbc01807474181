import type Router from '@koa/router';
import { firstValueFrom, takeUntil } from 'rxjs';
import type { CaptureOutcome } from '../../capture/domain.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import type { DetailedResult } from '../../storage/result-store.ts';
import { answerArtifact, describeArtifact, mediaTypeOf } from '../artifact-answer.ts';
import { admitCallback } from '../callback.ts';
import { clientGone } from '../client-gone.ts';
import { answer, answerFailure } from '../envelope.ts';
import { jsonBody } from '../json-body.ts';
import { preferImageOrJson } from '../negotiation.ts';
import { failureError, failureOf } from '../outcome.ts';
import { prefersAsync } from '../prefer.ts';
import { parseOrRefuse } from '../problems.ts';
import { parseId, parseQuery, ScreenshotQuery } from '../schemas/queries.ts';
import type { requestSchemas } from '../schemas/requests.ts';
import type { HttpContext, HttpMiddleware, HttpState } from '../state.ts';
import { answerAccepted } from './jobs.ts';

/** POST /screenshot captures; GET /screenshot/:id gives what was captured, DELETE removes it. */
export function screenshotRoutes(
  router: Router<HttpState>,
  service: CaptureService,
  schemas: ReturnType<typeof requestSchemas>,
  once: HttpMiddleware,
): void {
  router.post('/screenshot', ...jsonBody(), once, async (ctx) => {
    const request = parseOrRefuse(schemas.screenshot, ctx.request.body);
    if (prefersAsync(ctx)) {
      await admitCallback(ctx, service, request.callback);
      return answerAccepted(ctx, service, 'screenshot', [request]);
    }
    const outcome = await firstValueFrom(service.submit(request).pipe(takeUntil(clientGone(ctx))));
    if ('result' in outcome && outcome.result !== null) ctx.state.captureId = outcome.result.id;
    if (outcome.state === 'stored') return answerStored(ctx, service, outcome);
    const failed = failureOf(outcome);
    if (failed !== null) answerFailure(ctx, failureError(failed.failure), failed.result ?? undefined);
  });

  router.get('/screenshot/:id', async (ctx) => {
    const id = parseId(ctx.params.id);
    ctx.state.captureId = id;
    const { view } = parseQuery(ScreenshotQuery, ctx.querystring);
    if (view === 'html') return answerKept(ctx, service, id, 'html');
    if (view === 'image') return answerKept(ctx, service, id, 'image');
    const info = await service.artifacts.info(id);
    if (info === undefined) throw unknownCapture(id);
    if (view === 'metadata') return answer(ctx, info);
    ctx.vary('Accept');
    const wanted = preferImageOrJson(ctx.get('Accept'), mediaTypeOf(info.format), 'image');
    return wanted === 'json' ? answer(ctx, info) : answerKept(ctx, service, id, 'image');
  });

  router.delete('/screenshot/:id', async (ctx) => {
    const id = parseId(ctx.params.id);
    ctx.state.captureId = id;
    if (!(await service.remove(id))) throw new CapstanError('not_found', `There is no capture with the id ${id}.`);
    answer(ctx, { id }, 'The capture was removed.');
  });
}

async function answerStored(
  ctx: HttpContext,
  service: CaptureService,
  { result, evidence }: Extract<CaptureOutcome, { state: 'stored' }>,
): Promise<void> {
  const location = `/screenshot/${result.id}`;
  ctx.vary('Accept');
  if (preferImageOrJson(ctx.get('Accept'), mediaTypeOf(result.format), 'json') === 'json') {
    const detailed: DetailedResult = { ...result, evidence };
    answer(ctx, detailed, 'The page was captured.');
  } else {
    const artifact = await service.artifacts.open(result.id, 'image');
    if (artifact === undefined) throw new Error(`capture ${result.id} was stored, but its image cannot be opened`);
    ctx.status = 200;
    describeArtifact(ctx, artifact, 'image');
    ctx.body = artifact.stream();
    ctx.length = artifact.bytes;
  }
  ctx.set('Location', location);
  if (result.cached) ctx.set('X-Capture-Cached', 'true');
}

async function answerKept(
  ctx: HttpContext,
  service: CaptureService,
  id: number,
  kind: 'image' | 'html',
): Promise<void> {
  const artifact = await service.artifacts.open(id, kind);
  if (artifact === undefined) throw unknownCapture(id);
  return answerArtifact(ctx, artifact, kind);
}

function unknownCapture(id: number): CapstanError {
  return new CapstanError('not_found', `There is no screenshot with the id ${id}.`);
}
