import { firstValueFrom, takeUntil } from 'rxjs';
import { z } from 'zod';
import { type SentResult, sentResult } from '../../../capture/artifacts/artifact-paths.ts';
import type { ArtifactKind } from '../../../capture/artifacts/artifacts.ts';
import { FORMATS } from '../../../capture/artifacts/formats.ts';
import type { FailureCode } from '../../../capture/errors.ts';
import type { StoredCapture } from '../../../capture/outcome.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { DetailedResult, Result } from '../../../capture/result/result.ts';
import type { ServiceView } from '../../../service/capture-service.ts';
import { answerWhole } from '../../answer/artifact-answer.ts';
import { answer, answerFailure } from '../../answer/envelope.ts';
import { failureError, failureOf, noteCutShort } from '../../answer/outcome.ts';
import { DetailedResultSchema } from '../../answer/schemas.ts';
import { clientGone } from '../../connection/client-gone.ts';
import { callerOf } from '../../keys/callers.ts';
import { CAPTURED_FILE, envelope, text } from '../../openapi/content.ts';
import type { HeaderName } from '../../openapi/headers.ts';
import { MARKDOWN_TYPE, withAcceptedFormat } from '../../request/accepted-format.ts';
import { admitCallback } from '../../request/callback.ts';
import { JSON_TYPE, preferredType } from '../../request/negotiation.ts';
import { prefer, prefersAsync } from '../../request/prefer.ts';
import { publicPath } from '../../request/public-address.ts';
import { awaitBodyOrRefuse, refuseLargeWhenFull } from '../../request/refuse-early.ts';
import { spendRate } from '../../request/spend-rate.ts';
import { type RouteContext, routeWithBody } from '../../route.ts';
import type { HttpContext } from '../../state.ts';
import { ACCEPTED, answerAccepted } from '../jobs.ts';

/** Headers of an answer that can be the file of a new capture. */
export const CAPTURED_HEADERS = [
  'Location',
  'X-Capture-Id',
  'X-Capture-Cached',
  'X-Capture-Truncated',
  'X-Capture-Verdict',
  'ETag',
  'Cache-Control',
] as const satisfies readonly HeaderName[];

/** Failures of a capture, and reasons for which it is not admitted. */
export const CAPTURE_FAILURES = [
  'target_forbidden',
  'queue_full',
  'not_a_page',
  'selector_not_found',
  'script_failed',
  'action_failed',
  'unwanted_status',
  'unwanted_text',
  'proxy_failed',
  'target_unreachable',
  'page_crashed',
  'page_too_large',
  'worker_lost',
  'browser_unavailable',
  'cluster_unavailable',
  'database_unavailable',
  'artifacts_unavailable',
  'shutting_down',
  'capture_timeout',
  'storage_full',
  'storage_unavailable',
] as const satisfies readonly FailureCode[];

export const postScreenshot = routeWithBody({
  method: 'POST',
  path: '/screenshot',
  operationId: 'capture',
  summary: 'Captures one page.',
  description:
    'The capture is stored before it is answered. When the client disconnects, it is cancelled. When `Accept` prefers an image type or `application/pdf` to `application/json`, the answer is the file itself; without `format` it is captured in that type, `image/*` as PNG. When it prefers `text/markdown`, the answer is the output `markdown`. An `Accept` that takes none of these is 406 before anything is captured. A target that answers 404 or 500 is a capture that succeeded. A failed capture is a record too, and is in `data`.',
  tag: 'capture',
  isIdempotent: true,
  headers: z.object({ Prefer: prefer }),
  parameters: {},
  screen: refuseLargeWhenFull,
  body: {
    name: 'ScreenshotRequest',
    schema: ({ screenshot }) => screenshot,
    awaitRead: awaitBodyOrRefuse,
    complete: withAcceptedFormat,
  },
  answers: {
    200: {
      description: 'Captured and stored.',
      content: { ...envelope('DetailedResult', DetailedResultSchema), ...CAPTURED_FILE, ...text(MARKDOWN_TYPE) },
      headers: [...CAPTURED_HEADERS, 'Idempotent-Replayed'],
    },
    202: ACCEPTED,
  },
  failures: [...CAPTURE_FAILURES, 'rate_limited', 'not_acceptable'],
  handle: async (ctx, { body: request }, context) => {
    const { service } = context;
    spendRate(ctx, context, 1);
    if (prefersAsync(ctx)) {
      await admitCallback(ctx, service, request.callback);
      return answerAccepted(ctx, service, 'screenshot', [request]);
    }
    const outcome = await captureOrAnswerFailure(ctx, context, request);
    if (outcome !== undefined) await answerStored(ctx, service, outcome);
  },
});

/** Captures a page. When the capture fails, answers with the failure and returns undefined. */
export async function captureOrAnswerFailure(
  ctx: HttpContext,
  { service }: Pick<RouteContext, 'service'>,
  request: CaptureRequest,
): Promise<StoredCapture | undefined> {
  const outcome = await firstValueFrom(
    service.submit(request, { ...callerOf(ctx), requestId: ctx.state.requestId }).pipe(takeUntil(clientGone(ctx))),
  );
  noteCutShort(ctx, outcome);
  if ('result' in outcome && outcome.result !== null) ctx.state.captureId = outcome.result.id;
  if (outcome.state === 'stored') return outcome;
  const failed = failureOf(outcome);
  if (failed !== null) {
    answerFailure(ctx, failureError(failed.failure), failed.result === null ? undefined : sentResult(failed.result));
  }
  return undefined;
}

async function answerStored(
  ctx: HttpContext,
  service: ServiceView,
  { result, evidence }: StoredCapture,
): Promise<void> {
  ctx.vary('Accept');
  const files = { [FORMATS[result.format].mediaType]: 'image', [MARKDOWN_TYPE]: 'markdown' } as const;
  const kind = files[preferredType(ctx.get('Accept'), [JSON_TYPE, ...Object.keys(files)]) ?? JSON_TYPE];
  if (kind === 'image' || (kind === 'markdown' && hasMarkdown(result)))
    return answerNewFile(ctx, service, result, kind);
  answer(ctx, { ...sentResult(result), evidence } satisfies SentResult<DetailedResult>, 'The page was captured.');
  locate(ctx, result);
}

/** Whether there is Markdown to send: an output that could not be made in time has no file. */
function hasMarkdown({ outputs }: Result): boolean {
  return outputs.some(({ name, bytes, partial }) => name === 'markdown' && (bytes > 0 || !partial));
}

/** Answers with the file of a capture that has just been made. */
export async function answerNewFile(
  ctx: HttpContext,
  service: ServiceView,
  result: Result,
  kind: ArtifactKind = 'image',
): Promise<void> {
  await answerWhole(ctx, service, result.id, kind);
  locate(ctx, result);
}

function locate(ctx: HttpContext, { id, cached, truncated_by: truncatedBy, verdict }: Result): void {
  ctx.set('Location', publicPath(ctx, `/screenshot/${id}`));
  if (cached) ctx.set('X-Capture-Cached', 'true');
  if (truncatedBy !== '') ctx.set('X-Capture-Truncated', truncatedBy);
  if (verdict !== null) ctx.set('X-Capture-Verdict', verdict);
}
