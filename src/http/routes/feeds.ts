import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { type FeedAnswer, FeedSchema, type FeedSource } from '../../capture/finding/feed.ts';
import { NO_SIGNING_KEY, newLinkId } from '../../capture/finding/shared-urls.ts';
import { isJobOf } from '../../jobs/jobs.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { type FeedLink, NEVER_MS } from '../../storage/ports/shared-link-store.ts';
import { answer } from '../answer/envelope.ts';
import { cutPage } from '../answer/paging.ts';
import { FEED_ID, type FeedForm, feedTarget } from '../feeds/open-feed.ts';
import { callerOf, isShown, listedKey } from '../keys/callers.ts';
import { makerOf } from '../keys/makers.ts';
import { envelope } from '../openapi/content.ts';
import { filterOf, NewFeedSchema, sourceOf } from '../request/new-feed.ts';
import { DEFAULT_LIMIT, limitParameter } from '../request/parameters.ts';
import { publicUrl } from '../request/public-address.ts';
import { requestedBy } from '../request/requested-by.ts';
import { type RouteContext, route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';

/* Feeds: links by which feed readers follow watches and captures without an API key. */

const FEEDS = 'A key sees and revokes the feeds that it made; an administrator all of them.';
const feedId = z.string().regex(FEED_ID, { error: 'must be the id of a feed' }).meta({ description: "A feed's id." });

export const postFeed = routeWithBody({
  method: 'POST',
  path: '/feeds',
  operationId: 'createFeed',
  summary: 'Makes a feed of a watch, a label, a scan or a search, as Atom and JSON Feed.',
  description:
    'Its URL needs no API key, and reads this feed alone, until it is revoked (`DELETE /feeds/{id}`). It is signed with the first `--signing-key`. The feed shows what the key that made it may see when it is read.',
  tag: 'results',
  isIdempotent: true,
  needsDatabase: true,
  parameters: {},
  body: { name: 'NewFeed', schema: () => NewFeedSchema },
  answers: {
    200: { description: 'The feed.', content: envelope('Feed', FeedSchema), headers: ['Idempotent-Replayed'] },
  },
  failures: ['link_refused', 'not_found', 'too_many_shared_links'],
  handle: async (ctx, { body }, context) => {
    if (context.config.signingKey.length === 0) throw new CapstanError('link_refused', NO_SIGNING_KEY);
    const source = sourceOf(body, ctx.request.body);
    await requireSource(ctx, context.service, source);
    const createdAt = Date.now();
    const link: FeedLink = {
      id: `feed-${newLinkId(createdAt)}`,
      ...makerOf(ctx),
      source,
      createdAt,
      expiresAt: NEVER_MS,
    };
    await context.service.sharedLinks.add(link, callerOf(ctx).owner !== null);
    context.log.info({ feed: link.id, ...requestedBy(ctx) }, 'a feed was made');
    answer(ctx, answerOf(ctx, context, link), 'The feed is kept.');
  },
});

export const getFeeds = route({
  method: 'GET',
  path: '/feeds',
  operationId: 'listFeeds',
  scope: 'capture',
  summary: 'Feeds, newest first.',
  description: FEEDS,
  tag: 'results',
  needsDatabase: true,
  parameters: {
    limit: limitParameter(String(DEFAULT_LIMIT)),
    cursor: feedId.optional().meta({ description: 'The page after this feed; `Link` has it.' }),
  },
  answers: {
    200: { description: 'The feeds.', content: envelope('FeedList', z.array(FeedSchema)), headers: ['Link'] },
  },
  handle: async (ctx, { limit = DEFAULT_LIMIT, cursor: after }, context) => {
    const ofKey = listedKey(ctx);
    const { sharedLinks } = context.service;
    const found = ofKey === null ? [] : await sharedLinks.listFeeds({ ofKey, limit: limit + 1, after });
    const feeds = cutPage(ctx, found, limit, ({ id }) => id);
    answer(
      ctx,
      feeds.map((link) => answerOf(ctx, context, link)),
    );
  },
});

export const deleteFeed = route({
  method: 'DELETE',
  path: '/feeds/{id}',
  operationId: 'revokeFeed',
  scope: 'capture',
  summary: 'Revokes a feed.',
  description: FEEDS,
  tag: 'results',
  needsDatabase: true,
  parameters: { id: feedId },
  answers: {
    200: { description: 'It is revoked.', content: envelope('RevokedFeed', z.strictObject({ id: z.string() })) },
  },
  failures: ['not_found'],
  handle: async (ctx, { id }, { service, log }) => {
    const ofKey = listedKey(ctx);
    const removed = ofKey === null ? 0 : await service.sharedLinks.removeFeed(id, ofKey);
    if (removed === 0) throw new CapstanError('not_found', `There is no feed with the id ${id}.`);
    log.info({ feed: id, ...requestedBy(ctx) }, 'a feed was revoked');
    answer(ctx, { id }, 'The feed is revoked.');
  },
});

/** Refuses a watch that the caller does not see, and a scan of which it sees neither the job nor a capture. */
async function requireSource(ctx: HttpContext, service: ServiceView, source: FeedSource): Promise<void> {
  const { watch, scan } = source;
  if (watch !== undefined) {
    const ofKey = listedKey(ctx);
    if (ofKey === null || (await service.watches.get(watch, ofKey)) === undefined)
      throw new CapstanError('not_found', `There is no watch with the id ${watch}.`);
  }
  if (scan === undefined) return;
  const isJob = isShown(ctx, (name) => isJobOf(name, scan)) && (await service.jobs.get(scan)) !== undefined;
  if (isJob || (await service.results.page(filterOf(source), 1)).length > 0) return;
  throw new CapstanError('not_found', `There is no scan with the id ${scan}.`);
}

function answerOf(
  ctx: HttpContext,
  { config }: Pick<RouteContext, 'config'>,
  { id, apiKeyName, source, createdAt }: FeedLink,
): FeedAnswer {
  const [signingKey = ''] = config.signingKey;
  const url = (form?: FeedForm) => `${publicUrl(ctx)}${feedTarget(id, signingKey, form)}`;
  return {
    id,
    url: url(),
    atom: url('atom'),
    json: url('json'),
    ...source,
    created_at: new Date(createdAt).toISOString(),
    ...(apiKeyName === null ? {} : { api_key_name: apiKeyName }),
  };
}
