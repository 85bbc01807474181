import { z } from 'zod';
import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import { CapstanError } from '../../capture/errors.ts';
import { overHttp } from '../../capture/target.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { MAX_DISTANCE } from '../../storage/ports/result-store.ts';
import { answer } from '../answer/envelope.ts';
import { answerList, recordsWithin } from '../answer/result-list.ts';
import { DetailedResultSchema, ListedResultSchema, SimilarResultSchema } from '../answer/schemas.ts';
import { withSnippets } from '../answer/snippets.ts';
import { envelope } from '../openapi/content.ts';
import {
  captureId,
  conditionParameters,
  DEFAULT_LIMIT,
  hostPrefix,
  integerText,
  keysetCursorParameter,
  limitParameter,
  targetUrl,
} from '../request/parameters.ts';
import { route } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Routes that read the database only. */

const LIST = {
  200: {
    description: 'Newest first by `probed_at`.',
    content: envelope('ResultList', z.array(ListedResultSchema)),
    headers: ['Link'],
  },
} as const;

export const getResults = route({
  method: 'GET',
  path: '/results',
  operationId: 'listResults',
  summary: 'The newest results.',
  tag: 'results',
  needsDatabase: true,
  parameters: { ...conditionParameters, limit: limitParameter(String(DEFAULT_LIMIT)), cursor: keysetCursorParameter },
  answers: LIST,
  handle: (ctx, { limit = DEFAULT_LIMIT, cursor, ...where }, { service }) =>
    answerList(ctx, service.results, { by: 'all', where }, limit, cursor),
});

export const getResultsByUrl = route({
  method: 'GET',
  path: '/results/by-url',
  operationId: 'listResultsByUrl',
  summary: 'Every result of a URL, newest first.',
  tag: 'results',
  needsDatabase: true,
  parameters: {
    url: targetUrl,
    ...conditionParameters,
    limit: limitParameter('all of them'),
    cursor: keysetCursorParameter,
  },
  answers: LIST,
  handle: (ctx, { url: target, limit, cursor, ...where }, { service }) =>
    answerList(ctx, service.results, { by: 'url', url: target.url, orUrl: overHttp(target), where }, limit, cursor),
});

export const getResultsByHost = route({
  method: 'GET',
  path: '/results/by-host',
  operationId: 'listResultsByHost',
  summary: 'Results of hosts that start with a value, and of its subdomains, newest first.',
  tag: 'results',
  needsDatabase: true,
  parameters: {
    host: hostPrefix.meta({
      description:
        '`example.com` gives `example.com`, `www.example.com` and `example.com.au`, not `notexample.com`. Literal; case does not matter; an internationalised name and its punycode are the same.',
    }),
    ...conditionParameters,
    limit: limitParameter('all of them'),
    cursor: keysetCursorParameter,
  },
  answers: LIST,
  handle: (ctx, { host, limit, cursor, ...where }, { service }) =>
    answerList(ctx, service.results, { by: 'host', host, where }, limit, cursor),
});

const DEFAULT_DISTANCE = 5;
const DISTANCE = `must be an integer from 0 to ${MAX_DISTANCE}, bits of the hash that may differ`;

export const getSimilarResults = route({
  method: 'GET',
  path: '/results/similar/{id}',
  operationId: 'listSimilarResults',
  summary: 'Captures that are visually similar to one, nearest first.',
  description:
    'Those whose `perception_hash` differs in few bits, the result itself left out. Only captures with `evidence: ["perception_hash"]` have one.',
  tag: 'results',
  needsDatabase: true,
  parameters: {
    id: captureId,
    distance: integerText(z.int().min(0, { error: DISTANCE }).max(MAX_DISTANCE, { error: DISTANCE }), DISTANCE)
      .optional()
      .meta({ description: 'Bits that may differ, of 64.', default: DEFAULT_DISTANCE }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
  },
  answers: {
    200: {
      description: 'Nearest first, then newest. Ends after 4 MiB.',
      content: envelope('SimilarResultList', z.array(SimilarResultSchema)),
    },
  },
  failures: ['invalid_id', 'not_found', 'artifact_pending'],
  handle: async (ctx, { id, distance = DEFAULT_DISTANCE, limit = DEFAULT_LIMIT }, { service }) => {
    const { results } = service;
    const { perception_hash: hash } = await resultOf(ctx, id, service);
    if (hash == null) throw new CapstanError('not_found', `The capture ${id} ${WITHOUT_HASH}`);
    const similar = new Map((await results.similar({ hash, distance, except: id }, limit)).map((one) => [one.id, one]));
    const items = await recordsWithin(results, [...similar.keys()]);
    answer(
      ctx,
      items.map((result) => ({ ...sentResult(result), distance: similar.get(result.id)?.distance })),
    );
  },
});

const WITHOUT_HASH =
  'has no perception_hash, by which others are found that look like it: capture the page with evidence ["perception_hash"].';

const wordsToLight = conditionParameters.words.meta({
  description: 'Adds `snippets`: where the page shows these words, as in a list with this condition.',
});

export const getResult = route({
  method: 'GET',
  path: '/results/{id}',
  operationId: 'getResult',
  summary: 'One result, with its evidence.',
  tag: 'results',
  needsDatabase: true,
  parameters: { id: captureId, words: wordsToLight },
  answers: { 200: { description: 'The result.', content: envelope('DetailedResult', DetailedResultSchema) } },
  failures: ['invalid_id', 'not_found', 'artifact_pending'],
  handle: async (ctx, { id, words }, { service }) => {
    const [result] = await withSnippets(service.results, words, [await resultOf(ctx, id, service)]);
    if (result !== undefined) answer(ctx, sentResult(result));
  },
});

async function resultOf(ctx: HttpContext, id: number, service: Pick<ServiceView, 'results' | 'whyMissing'>) {
  ctx.state.captureId = id;
  const result = await service.results.get(id);
  if (result !== undefined) return result;
  const why = await service.whyMissing(id);
  if (why.code === 'artifact_pending') throw why;
  throw new CapstanError('not_found', `There is no result with the id ${id}.`);
}
