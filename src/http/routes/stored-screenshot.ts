import { z } from 'zod';
import { sentInfo } from '../../capture/artifacts/artifact-paths.ts';
import { type ArtifactKind, kindOf, REQUIRED_KINDS, VIEWS, viewOf } from '../../capture/artifacts/artifacts.ts';
import { FORMATS } from '../../capture/artifacts/formats.ts';
import { thumbnailFields, thumbnailOf } from '../../capture/artifacts/thumbnail.ts';
import { CapstanError } from '../../capture/errors.ts';
import { refusal } from '../../capture/validate.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { answerArtifact } from '../answer/artifact-answer.ts';
import { answer } from '../answer/envelope.ts';
import { RemovedSchema, ScreenshotInfoSchema } from '../answer/schemas.ts';
import { answerThumbnail } from '../answer/thumbnail-answer.ts';
import { CAPTURED_FILE, envelope, PAGE_FILE, THUMBNAIL_FILE } from '../openapi/content.ts';
import { preferImageOrJson } from '../request/negotiation.ts';
import { asText, captureId } from '../request/parameters.ts';
import { requestedBy } from '../request/requested-by.ts';
import { route } from '../route.ts';
import type { HttpContext } from '../state.ts';
import { infoOf } from './compare.ts';

const FILE_HEADERS = ['ETag', 'Cache-Control', 'Accept-Ranges', 'X-Capture-Id'] as const;

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

function refuseOtherViews(view: (typeof VIEW)[number] | undefined): void {
  if (view === undefined || view === 'image') return;
  throw refusal([
    { path: 'view', message: `must be image, or be left out, with width, height, format or quality, not ${view}` },
  ]);
}

async function answerKept(ctx: HttpContext, service: ServiceView, id: number, kind: ArtifactKind): Promise<void> {
  const artifact = await service.artifacts.open(id, kind);
  if (artifact === undefined) throw await whyFileIsMissing(service, id, kind);
  return answerArtifact(ctx, artifact, kind);
}

/** A capture that exists may have been made without this output. */
async function whyFileIsMissing(service: ServiceView, id: number, kind: ArtifactKind): Promise<CapstanError> {
  if ((await service.artifacts.info(id)) === undefined) return service.whyMissing(id);
  // Without a database, which outputs there are is not known.
  const record = await service.results.get(id).catch(() => undefined);
  const names = record?.outputs.filter(({ bytes }) => bytes > 0).map(({ name }) => name) ?? [];
  const others = record === undefined ? '' : `: it has ${[...REQUIRED_KINDS, ...names].join(', ')}`;
  return new CapstanError('not_found', `The capture ${id} has no ${viewOf(kind)}${others}.`);
}
