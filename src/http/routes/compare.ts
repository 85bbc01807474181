import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ComparisonSchema, IGNORE_DESCRIPTION, ignoreField } from '../../capture/comparison/comparison.ts';
import { parseOrRefuse } from '../../capture/validate.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { CACHE_CONTROL } from '../answer/artifact-answer.ts';
import { answerDrawing, DRAWING_TYPE } from '../answer/drawing-answer.ts';
import { answer } from '../answer/envelope.ts';
import { matchesEtag } from '../answer/if-none-match.ts';
import { clientGone } from '../connection/client-gone.ts';
import { callerOf } from '../keys/callers.ts';
import { envelope } from '../openapi/content.ts';
import { preferImageOrJson } from '../request/negotiation.ts';
import { captureId } from '../request/parameters.ts';
import { route } from '../route.ts';

const IgnoredSchema = z.object({ ignore: ignoreField });

export const getComparison = route({
  method: 'GET',
  path: '/compare',
  operationId: 'compare',
  summary: 'What differs between two captures.',
  description:
    'Images, painted texts, links and facts are compared. Rows and columns are aligned before pixels are compared: content that is only further down did not change. Differences by anti-aliasing are left out. Each region was inserted, removed, moved or edited; where both captures have an element map, elements tell which, and are listed with what changed in them. `Accept: image/png` asks for both images beside each other, with the regions marked: green inserted, red removed, blue moved, orange edited.',
  tag: 'capture',
  parameters: {
    a: captureId.meta({ description: 'The capture before.' }),
    b: captureId.meta({ description: 'The capture after.' }),
    ignore: z
      .array(z.string())
      .optional()
      .meta({
        repeatable: 'each',
        description: IGNORE_DESCRIPTION,
        examples: [['moved', '0,0,1280,40']],
      }),
    order: z.enum(['kept', 'any']).default('kept').meta({
      description: '`any`: a line of the text that is elsewhere in the other capture does not differ.',
    }),
  },
  answers: {
    200: {
      description: 'The comparison.',
      content: {
        ...envelope('Comparison', ComparisonSchema),
        [DRAWING_TYPE]: { text: { type: 'string', format: 'binary' } },
      },
      headers: ['ETag', 'Cache-Control'],
    },
    304: { description: 'The client has the image already.', content: {}, headers: ['ETag', 'Cache-Control'] },
  },
  failures: [
    'invalid_id',
    'not_found',
    'artifact_elsewhere',
    'artifact_damaged',
    'not_an_image',
    'comparison_too_large',
    'no_element_map',
    'queue_full',
    'artifact_pending',
    'artifacts_unavailable',
    'database_unavailable',
  ],
  handle: async (ctx, { a, b, ignore: ignored, order }, { service }) => {
    const [before, after] = [await infoOf(service, a), await infoOf(service, b)];
    // Selectors take time to read, which is spent only on captures that the key may compare.
    const { ignore } = parseOrRefuse(IgnoredSchema, { ignore: ignored });
    ctx.vary('Accept');
    const draws = preferImageOrJson(ctx.get('Accept'), DRAWING_TYPE, 'json') === 'image';
    const etag = `"${digestOf([before.sha256, after.sha256, ignore])}"`;
    if (draws && matchesEtag(ctx.get('If-None-Match'), etag)) {
      ctx.set({ 'Cache-Control': CACHE_CONTROL, ETag: etag });
      ctx.status = 304;
      return;
    }
    const compared = await service.comparisons.of(before, after, clientGone(ctx), callerOf(ctx).owner, {
      ignore,
      inAnyOrder: order === 'any',
      draws,
    });
    if (compared === undefined) throw await service.whyMissing((await service.artifacts.has(a)) ? b : a);
    const { drawing } = compared;
    if (drawing === null) {
      answer(ctx, { a, b, ...compared.difference });
      return;
    }
    ctx.set({ 'Cache-Control': CACHE_CONTROL, ETag: etag });
    answerDrawing(ctx, drawing);
  },
});

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Returns what is known of a stored capture. Rejects with the reason why it is missing. */
export async function infoOf(service: ServiceView, id: number) {
  const info = await service.artifacts.info(id);
  if (info === undefined) throw await service.whyMissing(id);
  return info;
}
