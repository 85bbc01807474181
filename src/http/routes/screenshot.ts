import { firstValueFrom, takeUntil } from 'rxjs';
import { z } from 'zod';
import { type SentResult, sentInfo, sentResult } from '../../capture/artifact-paths.ts';
import { type ArtifactKind, kindOf, REQUIRED_KINDS, VIEWS, viewOf } from '../../capture/artifacts.ts';
import { CapstanError, type FailureCode } from '../../capture/errors.ts';
import { FORMATS } from '../../capture/formats.ts';
import type { CaptureOutcome } from '../../capture/outcome.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { DetailedResult, Result } from '../../capture/result.ts';
import { thumbnailFields, thumbnailOf } from '../../capture/thumbnail.ts';
import { refusal } from '../../capture/validate.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import { answerArtifact, answerWhole } from '../answer/artifact-answer.ts';
import { answer, answerFailure } from '../answer/envelope.ts';
import { failureError, failureOf } from '../answer/outcome.ts';
import { DetailedResultSchema, RemovedSchema, ScreenshotInfoSchema } from '../answer/schemas.ts';
import { answerThumbnail } from '../answer/thumbnail-answer.ts';
import { clientGone } from '../connection/client-gone.ts';
import { callerOf } from '../keys/callers.ts';
import { CAPTURED_FILE, envelope, PAGE_FILE, THUMBNAIL_FILE, text } from '../openapi/content.ts';
import type { HeaderName } from '../openapi/headers.ts';
import { MARKDOWN_TYPE, withAcceptedFormat } from '../request/accepted-format.ts';
import { admitCallback } from '../request/callback.ts';
import { JSON_TYPE, preferImageOrJson, preferredType } from '../request/negotiation.ts';
import { asText, captureId } from '../request/parameters.ts';
import { prefer, prefersAsync } from '../request/prefer.ts';
import { publicPath } from '../request/public-address.ts';
import { awaitBodyOrRefuse, refuseLargeWhenFull, refuseNewWhenFull } from '../request/refuse-early.ts';
import { requestedBy } from '../request/requested-by.ts';
import { spendRate } from '../request/spend-rate.ts';
import { type RouteContext, route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';
import { infoOf } from './compare.ts';
import { ACCEPTED, answerAccepted } from './jobs.ts';

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
  'browser_unavailable',
  'shutting_down',
  'capture_timeout',
  'storage_full',
  'storage_unavailable',
] as const satisfies readonly FailureCode[];

const FILE_HEADERS = ['ETag', 'Cache-Control', 'Accept-Ranges', 'X-Capture-Id'] as const;

export const postScreenshot = routeWithBody({
  method: 'POST',
  path: '/screenshot',
  operationId: 'capture',
  summary: 'Captures one page.',
  description:
    'The capture is stored before it is answered. When the client disconnects, it is cancelled. When `Accept` prefers an image type or `application/pdf` to `application/json`, the answer is the file itself; without `format` it is captured in that type, `image/*` as PNG. When it prefers `text/markdown`, the answer is the output `markdown`. An `Accept` that takes none of these is 406 before anything is captured. A target that answers 404 or 500 is a capture that succeeded. A failed capture is a record too, and is in `data`.',
  tag: 'capture',
  isIdempotent: true,
  spendsRate: true,
  headers: z.object({ Prefer: prefer }),
  parameters: {},
  screen: refuseLargeWhenFull,
  body: {
    name: 'ScreenshotRequest',
    schema: ({ screenshot }) => screenshot,
    awaitRead: awaitBodyOrRefuse,
    complete: (body, ctx, context) => {
      refuseNewWhenFull(body, ctx, context);
      return withAcceptedFormat(body, ctx);
    },
  },
  answers: {
    200: {
      description: 'Captured and stored.',
      content: { ...envelope('DetailedResult', DetailedResultSchema), ...CAPTURED_FILE, ...text(MARKDOWN_TYPE) },
      headers: [...CAPTURED_HEADERS, 'Idempotent-Replayed'],
    },
    202: ACCEPTED,
  },
  failures: [...CAPTURE_FAILURES, 'not_acceptable'],
  handle: async (ctx, { body: request }, context) => {
    const { service } = context;
    spendRate(ctx, context, 1);
    if (prefersAsync(ctx)) {
      await admitCallback(ctx, service, request.callback);
      return answerAccepted(ctx, service, 'screenshot', [request]);
    }
    const outcome = await submitted(ctx, context, request);
    if (outcome !== undefined) await answerStored(ctx, service, outcome);
  },
});

const VIEW = [...VIEWS, 'metadata'] as const;

const thumbnailParameters = {
  width: asText(thumbnailFields.width).optional(),
  height: asText(thumbnailFields.height).optional(),
  format: thumbnailFields.format.optional(),
  quality: asText(thumbnailFields.quality).optional(),
};

export const getScreenshot = route({
  method: 'GET',
  path: '/screenshot/{id}',
  operationId: 'getScreenshot',
  summary: 'The image of a capture, its metadata, its HTML snapshot, or one of its outputs.',
  description:
    'Without `view`: the metadata when `Accept` prefers `application/json` to the image, else the image. The HTML snapshot and the outputs are served inert. With `width`, `height`, `format` or `quality`: a thumbnail of the image, without ranges. A PDF has none.',
  tag: 'capture',
  parameters: {
    id: captureId,
    view: z.enum(VIEW, { error: `must be one of ${VIEW.join(', ')}` }).optional(),
    ...thumbnailParameters,
  },
  headers: z.object({
    'If-None-Match': z.string().optional().meta({ description: 'ETags that the client has, or `*`.' }),
    Range: z.string().optional().meta({ description: 'One range of bytes. Several are answered with the whole file.' }),
    'If-Range': z.string().optional().meta({ description: 'The ETag for which the Range holds.' }),
  }),
  answers: {
    200: {
      description: 'The file, or the metadata.',
      content: {
        ...CAPTURED_FILE,
        ...THUMBNAIL_FILE,
        ...PAGE_FILE,
        // In place of the outputs that are JSON: a media type has one schema.
        ...envelope('ScreenshotInfo', ScreenshotInfoSchema),
      },
      headers: [...FILE_HEADERS, 'Content-Security-Policy'],
    },
    206: {
      description: 'The part that was asked for.',
      content: { ...CAPTURED_FILE, ...PAGE_FILE },
      headers: [...FILE_HEADERS, 'Content-Range'],
    },
    302: {
      description: 'With `--s3-presign`: the image is at this URL of the object store for a while.',
      content: {},
      headers: ['Location', 'ETag', 'Cache-Control'],
    },
    304: { description: 'The client has it already.', content: {}, headers: ['ETag', 'Cache-Control'] },
  },
  failures: [
    'invalid_id',
    'not_found',
    'artifact_elsewhere',
    'range_not_satisfiable',
    'not_an_image',
    'queue_full',
    'artifact_damaged',
    'artifact_pending',
    'artifacts_unavailable',
    'database_unavailable',
  ],
  handle: async (ctx, { id, view, ...given }, { service }) => {
    ctx.state.captureId = id;
    const thumbnail = thumbnailOf(given);
    if (thumbnail !== undefined) {
      refuseOtherViews(view);
      return answerThumbnail(ctx, service, await infoOf(service, id), thumbnail);
    }
    if (view !== undefined && view !== 'metadata') return answerKept(ctx, service, id, kindOf(view));
    const info = await infoOf(service, id);
    if (view === 'metadata') return answer(ctx, sentInfo(info));
    ctx.vary('Accept');
    const wanted = preferImageOrJson(ctx.get('Accept'), FORMATS[info.format].mediaType, 'image');
    return wanted === 'json' ? answer(ctx, sentInfo(info)) : answerKept(ctx, service, id, 'image');
  },
});

export const deleteScreenshot = route({
  method: 'DELETE',
  path: '/screenshot/{id}',
  operationId: 'deleteScreenshot',
  isolatedScope: 'capture',
  summary: 'Removes a capture: image, HTML snapshot, outputs and record.',
  description:
    'Also removes the record of a failed capture, which has no files. Downloads of its files that have begun are completed. While the database is unavailable, nothing is removed; without a database, the files are removed.',
  tag: 'capture',
  parameters: { id: captureId },
  answers: { 200: { description: 'It is gone.', content: envelope('Removed', RemovedSchema) } },
  failures: [
    'invalid_id',
    'not_found',
    'capture_held',
    'artifact_elsewhere',
    'artifact_pending',
    'artifacts_unavailable',
    'database_unavailable',
  ],
  handle: async (ctx, { id }, { service }) => {
    ctx.state.captureId = id;
    const isRemoved = await service.remove(id, requestedBy(ctx));
    if (!isRemoved) throw new CapstanError('not_found', `There is no capture with the id ${id}.`);
    answer(ctx, { id }, 'The capture was removed.');
  },
});

type StoredCapture = Extract<CaptureOutcome, { state: 'stored' }>;

/** Captures a page. When the capture fails, answers with the failure and returns undefined. */
export async function submitted(
  ctx: HttpContext,
  { service }: Pick<RouteContext, 'service'>,
  request: CaptureRequest,
): Promise<StoredCapture | undefined> {
  const outcome = await firstValueFrom(
    service.submit(request, { ...callerOf(ctx), requestId: ctx.state.requestId }).pipe(takeUntil(clientGone(ctx))),
  );
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
  service: CaptureService,
  { result, evidence }: StoredCapture,
): Promise<void> {
  ctx.vary('Accept');
  const files = { [FORMATS[result.format].mediaType]: 'image', [MARKDOWN_TYPE]: 'markdown' } as const;
  const kind = files[preferredType(ctx.get('Accept'), [JSON_TYPE, ...Object.keys(files)]) ?? JSON_TYPE];
  if (kind === undefined || (kind === 'markdown' && !hasMarkdown(result))) {
    answer(ctx, { ...sentResult(result), evidence } satisfies SentResult<DetailedResult>, 'The page was captured.');
  } else {
    await answerFile(ctx, service, result, kind);
  }
  locate(ctx, result);
}

/** Whether there is Markdown to send: an output that could not be made in time has no file. */
function hasMarkdown({ outputs }: Result): boolean {
  return outputs.some(({ name, bytes, partial }) => name === 'markdown' && (bytes > 0 || !partial));
}

/** Answers with the file of a capture that has just been made. */
export async function answerFile(
  ctx: HttpContext,
  service: CaptureService,
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

function refuseOtherViews(view: (typeof VIEW)[number] | undefined): void {
  if (view === undefined || view === 'image') return;
  throw refusal([
    { path: 'view', message: `must be image, or be left out, with width, height, format or quality, not ${view}` },
  ]);
}

async function answerKept(ctx: HttpContext, service: CaptureService, id: number, kind: ArtifactKind): Promise<void> {
  const artifact = await service.artifacts.open(id, kind);
  if (artifact === undefined) throw await whyFileIsMissing(service, id, kind);
  return answerArtifact(ctx, artifact, kind);
}

/** A capture that exists may have been made without this output. */
async function whyFileIsMissing(service: CaptureService, id: number, kind: ArtifactKind): Promise<CapstanError> {
  if ((await service.artifacts.info(id)) === undefined) return service.whyMissing(id);
  // Without a database, which outputs there are is not known.
  const record = await service.results.get(id).catch(() => undefined);
  const names = record?.outputs.filter(({ bytes }) => bytes > 0).map(({ name }) => name) ?? [];
  const others = record === undefined ? '' : `: it has ${[...REQUIRED_KINDS, ...names].join(', ')}`;
  return new CapstanError('not_found', `The capture ${id} has no ${viewOf(kind)}${others}.`);
}
