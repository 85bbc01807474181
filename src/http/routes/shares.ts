import { z } from 'zod';
import { viewOf } from '../../capture/artifacts/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import {
  DAY_MS,
  DEFAULT_SHARE_MS,
  type SharedLinkAnswer,
  SharedLinkSchema,
  ShareRequestSchema,
} from '../../capture/finding/shared-link.ts';
import { linkOf, NO_SIGNING_KEY, newLinkId } from '../../capture/finding/shared-urls.ts';
import { refusal } from '../../capture/validate.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import type { SharedLink } from '../../storage/ports/shared-link-store.ts';
import { answer } from '../answer/envelope.ts';
import { cutPage } from '../answer/paging.ts';
import { callerOf, listedKey } from '../keys/callers.ts';
import { makerOf } from '../keys/makers.ts';
import { envelope } from '../openapi/content.ts';
import { captureId, DEFAULT_LIMIT, limitParameter } from '../request/parameters.ts';
import { publicUrl } from '../request/public-address.ts';
import { requestedBy } from '../request/requested-by.ts';
import { type RouteContext, route, routeWithBody } from '../route.ts';
import type { HttpContext } from '../state.ts';
import { infoOf } from './compare.ts';

/* Links that hand one capture, or a comparison of two, to people without an API key. */

const SHARES = 'A key sees and revokes the links that it made; an administrator all of them.';
const linkId = z
  .string()
  .regex(/^[\w-]{1,64}$/, { error: 'must be the id of a shared link' })
  .meta({ description: "A shared link's id." });

export const postShare = routeWithBody({
  method: 'POST',
  path: '/screenshot/{id}/share',
  operationId: 'shareCapture',
  summary: 'Makes a link to a stored capture that needs no API key.',
  description:
    'The link shows this capture and nothing else, until it expires, is revoked (`DELETE /shares/{id}`), or the capture is removed. It is signed with the first `--signing-key`. Caches may keep its answers until it expires, also when it is revoked before. The page shows no values of cookies.',
  tag: 'capture',
  isIdempotent: true,
  needsDatabase: true,
  parameters: { id: captureId },
  body: { name: 'ShareRequest', schema: () => ShareRequestSchema },
  answers: {
    200: {
      description: 'The link.',
      content: envelope('SharedLink', SharedLinkSchema),
      headers: ['Idempotent-Replayed'],
    },
  },
  failures: [
    'invalid_id',
    'not_found',
    'link_refused',
    'artifact_elsewhere',
    'artifact_pending',
    'not_an_image',
    'too_many_shared_links',
  ],
  handle: async (ctx, { parameters: { id }, body }, context) => {
    const { service } = context;
    ctx.state.captureId = id;
    if (context.config.signingKey.length === 0) throw new CapstanError('link_refused', NO_SIGNING_KEY);
    const { maxShareDays } = context.config;
    const maxShareMs = maxShareDays * DAY_MS;
    const expiresMs = body.expires ?? Math.min(DEFAULT_SHARE_MS, maxShareMs);
    if (expiresMs > maxShareMs) {
      throw refusal([{ path: 'expires', message: `must be at most ${maxShareDays} days (--max-share-days)` }]);
    }
    await requireShown(service, id, body);
    const now = Date.now();
    const link: SharedLink = {
      id: newLinkId(now),
      ...makerOf(ctx),
      capture: id,
      other: body.with ?? null,
      view: body.view,
      createdAt: now,
      // Whole seconds, as links are signed with them.
      expiresAt: Math.floor((now + expiresMs) / 1000) * 1000,
    };
    await service.sharedLinks.add(link, callerOf(ctx).owner !== null);
    context.log.info({ capture_id: id, share: link.id, view: link.view, ...requestedBy(ctx) }, 'a capture was shared');
    answer(ctx, answerOf(ctx, context, link), 'The capture is shared.');
  },
});

export const getShares = route({
  method: 'GET',
  path: '/shares',
  operationId: 'listSharedLinks',
  scope: 'capture',
  summary: 'Shared links that have not ended, newest first.',
  description: SHARES,
  tag: 'capture',
  needsDatabase: true,
  parameters: {
    capture: captureId.optional().meta({ type: 'integer', description: 'Only links to this capture.' }),
    limit: limitParameter(String(DEFAULT_LIMIT)),
    cursor: linkId.optional().meta({ description: 'The page after this link; `Link` has it.' }),
  },
  answers: {
    200: {
      description: 'The links.',
      content: envelope('SharedLinkList', z.array(SharedLinkSchema)),
      headers: ['Link'],
    },
  },
  failures: ['invalid_id'],
  handle: async (ctx, { capture, limit = DEFAULT_LIMIT, cursor: after }, context) => {
    const { sharedLinks } = context.service;
    const ofKey = listedKey(ctx);
    const wanted = { ofKey: ofKey ?? undefined, capture, limit: limit + 1, after, now: Date.now() };
    const found = ofKey === null ? [] : await sharedLinks.list(wanted);
    const items = cutPage(ctx, found, limit, ({ id }) => id);
    const alive = await context.service.stillShared(items, context.viewOf);
    answer(
      ctx,
      alive.map((link) => answerOf(ctx, context, link)),
    );
  },
});

export const deleteShare = route({
  method: 'DELETE',
  path: '/shares/{id}',
  operationId: 'revokeSharedLink',
  scope: 'capture',
  summary: 'Revokes a shared link.',
  description: SHARES,
  tag: 'capture',
  needsDatabase: true,
  parameters: { id: linkId },
  answers: {
    200: { description: 'It is revoked.', content: envelope('RevokedLink', z.strictObject({ id: z.string() })) },
  },
  failures: ['not_found'],
  handle: async (ctx, { id }, { service, log }) => {
    const ofKey = listedKey(ctx);
    const removed = ofKey === null ? 0 : await service.sharedLinks.remove([id], ofKey);
    if (removed === 0) throw new CapstanError('not_found', `There is no shared link with the id ${id}.`);
    log.info({ share: id, ...requestedBy(ctx) }, 'a shared link was revoked');
    answer(ctx, { id }, 'The link is revoked.');
  },
});

/** Refuses to share what the caller does not see, or what does not exist. */
async function requireShown(
  service: ServiceView,
  id: number,
  { view, with: other }: z.output<typeof ShareRequestSchema>,
): Promise<void> {
  const info = await infoOf(service, id);
  if (other !== undefined) {
    if (other === id) throw refusal([{ path: 'with', message: 'must be another capture' }]);
    if ([info, await infoOf(service, other)].some(({ format }) => format === 'pdf'))
      throw new CapstanError('not_an_image');
  }
  const record = await service.results.get(id);
  if (record === undefined) throw await service.whyMissing(id);
  const views = ['page', ...(record.artifacts?.kinds ?? []).map(viewOf)];
  if (views.includes(view)) return;
  throw refusal([{ path: 'view', message: `must be one of what the capture has: ${views.join(', ')}` }]);
}

function answerOf(ctx: HttpContext, { config }: Pick<RouteContext, 'config'>, link: SharedLink): SharedLinkAnswer {
  const [signingKey = ''] = config.signingKey;
  const { id, capture, other, view, createdAt, expiresAt, apiKeyName } = link;
  return {
    id,
    link: `${publicUrl(ctx)}${linkOf(link, signingKey)}`,
    capture,
    with: other,
    view,
    created_at: new Date(createdAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
    ...(apiKeyName === null ? {} : { api_key_name: apiKeyName }),
  };
}
