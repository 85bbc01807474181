import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { Result } from '../../capture/domain.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { CaptureService } from '../../service/capture-service.ts';
import type { Keyset, ResultFilter, ResultStore } from '../../storage/result-store.ts';
import { keysetCursor } from '../cursor.ts';
import { answer, envelopeAround } from '../envelope.ts';
import { jsonArray } from '../json-array.ts';
import { cutPage, linkNext } from '../paging.ts';
import {
  ByHostQuery,
  ByUrlQuery,
  DEFAULT_DISTANCE,
  DEFAULT_LIMIT,
  parseId,
  parseQuery,
  ResultsQuery,
  SimilarQuery,
} from '../schemas/queries.ts';
import type { HttpContext, HttpState } from '../state.ts';

/** Records read at once for an answer without a limit: what such an answer holds in memory, however long it is. */
const STREAM_PAGE = 250;

/** They read the database and nothing else. */
export function resultsRoutes(router: Router<HttpState>, { results }: CaptureService): void {
  // Before the parameters are looked at: without a database every one of these is 503, whatever was asked.
  router.get(
    ['/results', '/results/by-url', '/results/by-host', '/results/similar/:id', '/results/:id'],
    async (_ctx, next) => {
      if (results.state !== 'up') await results.page({ by: 'all' }, 1);
      await next();
    },
  );

  router.get('/results', async (ctx) => {
    const { limit = DEFAULT_LIMIT, cursor } = parseQuery(ResultsQuery, ctx.querystring);
    await answerPage(ctx, results, { by: 'all' }, limit, cursor);
  });

  // Before /results/:id, which would take their names for ids.
  router.get('/results/by-url', async (ctx) => {
    const { url, limit, cursor } = parseQuery(ByUrlQuery, ctx.querystring);
    await answerList(ctx, results, { by: 'url', url }, limit, cursor);
  });

  router.get('/results/by-host', async (ctx) => {
    const { host, limit, cursor } = parseQuery(ByHostQuery, ctx.querystring);
    await answerList(ctx, results, { by: 'host', host }, limit, cursor);
  });

  router.get('/results/similar/:id', async (ctx) => {
    const { distance = DEFAULT_DISTANCE, limit = DEFAULT_LIMIT } = parseQuery(SimilarQuery, ctx.querystring);
    const { id, perception_hash: hash } = await resultIn(ctx, results);
    if (hash == null) throw new CapstanError('not_found', `The capture ${id} ${WITHOUT_HASH}`);
    answer(ctx, await results.similar({ hash, distance, except: id }, limit));
  });

  router.get('/results/:id', async (ctx) => {
    answer(ctx, await resultIn(ctx, results));
  });
}

const WITHOUT_HASH =
  'has no perception_hash, by which others are found that look like it: capture the page with evidence ["perception_hash"].';

/** The result whose id is in the path. */
async function resultIn(ctx: HttpContext & { readonly params: { readonly id?: string } }, results: ResultStore) {
  const id = parseId(ctx.params.id);
  ctx.state.captureId = id;
  const result = await results.get(id);
  if (result === undefined) throw new CapstanError('not_found', `There is no result with the id ${id}.`);
  return result;
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
  const { items, continueAfter } = cutPage(await results.page(filter, limit + 1, after), limit);
  if (continueAfter !== undefined) linkNext(ctx, keysetCursor(keysetOf(continueAfter)));
  answer(ctx, items);
}

/** The first page is read before the head is sent, so that a database that is away is a 503 and not a broken answer. */
async function answerAll(
  ctx: HttpContext,
  results: ResultStore,
  filter: ResultFilter,
  after: Keyset | undefined,
): Promise<void> {
  const first = await results.page(filter, STREAM_PAGE, after);
  if (first.length < STREAM_PAGE) {
    answer(ctx, first);
    return;
  }
  ctx.status = 200;
  ctx.type = 'json';
  if (ctx.method === 'HEAD') return;
  const next = (last: Result) => results.page(filter, STREAM_PAGE, keysetOf(last));
  ctx.body = Readable.from(jsonArray(first, next, envelopeAround(ctx)), { objectMode: false });
}

function keysetOf({ probed_at, id }: Result): Keyset {
  return { probedAt: probed_at, id };
}
