import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { sentResult } from '../../capture/artifact-paths.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Result } from '../../capture/result.ts';
import type { Snippet } from '../../capture/snippet.ts';
import { snippetsOf } from '../../capture/snippets.ts';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import { overHttp } from '../../capture/target.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import {
  type Keyset,
  keysetOf,
  MAX_DISTANCE,
  type ResultFilter,
  type ResultStore,
} from '../../storage/ports/result-store.ts';
import { answer, envelopeAround } from '../answer/envelope.ts';
import { jsonArray } from '../answer/json-array.ts';
import { linkedPage } from '../answer/paging.ts';
import { DetailedResultSchema, ListedResultSchema, SimilarResultSchema } from '../answer/schemas.ts';
import { envelope } from '../openapi/content.ts';
import { keysetCursor } from '../request/cursor.ts';
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
    answerPage(ctx, service.results, { by: 'all', where }, limit, cursor),
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
    answer(ctx, (await results.similar({ hash, distance, except: id }, limit)).map(sentResult));
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
    const [result] = await withSnippets(service.results, { by: 'all', where: { words } }, [
      await resultOf(ctx, id, service),
    ]);
    if (result !== undefined) answer(ctx, sentResult(result));
  },
});

/** Records that are read at once, which bounds memory and the longest turn. */
const READ_TOGETHER = 100;

async function resultOf(ctx: HttpContext, id: number, service: Pick<CaptureService, 'results' | 'whyMissing'>) {
  ctx.state.captureId = id;
  const result = await service.results.get(id);
  if (result !== undefined) return result;
  const why = await service.whyMissing(id);
  if (why.code === 'artifact_pending') throw why;
  throw new CapstanError('not_found', `There is no result with the id ${id}.`);
}

function answerList(
  ctx: HttpContext,
  results: ResultStore,
  filter: ResultFilter,
  limit: number | undefined,
  after: Keyset | undefined,
): Promise<void> {
  return limit === undefined ? answerAll(ctx, results, filter, after) : answerPage(ctx, results, filter, limit, after);
}

async function answerPage(
  ctx: HttpContext,
  results: ResultStore,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<void> {
  const page = await pageWithin(results, filter, limit, after);
  const items = linkedPage(ctx, page, (last) => keysetCursor(keysetOf(last)));
  answer(ctx, (await withSnippets(results, filter, items)).map(sentResult));
}

/** Results whose snippets are made between two turns of the event loop. */
const SNIPPETS_AT_ONCE = 10;

/** Adds what a condition on words has found. */
async function withSnippets<T extends Result>(
  results: ResultStore,
  { where: { words } = {} }: ResultFilter,
  found: readonly T[],
): Promise<readonly (T & { readonly snippets?: readonly Snippet[] })[]> {
  if (words === undefined || found.length === 0) return found;
  const packed = await results.wordsOf(found.map(({ id }) => id));
  const all: (T & { readonly snippets: readonly Snippet[] })[] = [];
  for (const [at, result] of found.entries()) {
    if (at % SNIPPETS_AT_ONCE === SNIPPETS_AT_ONCE - 1) await nextTurn();
    all.push({ ...result, snippets: snippetsOf(packed.get(result.id) ?? '', words) });
  }
  return all;
}

/** Reads a page in parts, and ends it when it is large, so that it holds up no other request. */
async function pageWithin(
  results: ResultStore,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<{ readonly items: readonly Result[]; readonly isCut: boolean }> {
  const items: Result[] = [];
  let characters = 0;
  for (let last = after; ; ) {
    const wanted = Math.min(READ_TOGETHER, limit + 1 - items.length);
    const found = await results.page(filter, wanted, last);
    for (const result of found) {
      if (items.length === limit || characters >= STORED_LIMITS.results.bytes) return { items, isCut: true };
      items.push(result);
      characters += JSON.stringify(result).length;
    }
    const lastRead = found.at(-1);
    if (lastRead === undefined || found.length < wanted) return { items, isCut: false };
    last = keysetOf(lastRead);
  }
}

/** Reads the first page before the head is sent, so that an unreachable database is a 503 and not an aborted answer. */
async function answerAll(
  ctx: HttpContext,
  results: ResultStore,
  filter: ResultFilter,
  after: Keyset | undefined,
): Promise<void> {
  const read = async (from: Keyset | undefined) =>
    withSnippets(results, filter, await results.page(filter, READ_TOGETHER, from));
  const first = await read(after);
  if (first.length < READ_TOGETHER) {
    answer(ctx, first.map(sentResult));
    return;
  }
  ctx.status = 200;
  ctx.type = 'json';
  if (ctx.method === 'HEAD') return;
  const next = (last: Result) => read(keysetOf(last));
  ctx.body = Readable.from(jsonArray(first, next, sentResult, envelopeAround(ctx)), { objectMode: false });
}
