import { z } from 'zod';
import { kindOf } from '../../capture/artifacts/artifacts.ts';
import { CapstanError } from '../../capture/errors.ts';
import { DAY_MS } from '../../capture/finding/shared-link.ts';
import { linkOf, PARTS, type Part } from '../../capture/finding/shared-urls.ts';
import type { ServiceView, Shared } from '../../service/capture-service.ts';
import { answerArtifact } from '../answer/artifact-answer.ts';
import { answerDrawing } from '../answer/drawing-answer.ts';
import { clientGone } from '../connection/client-gone.ts';
import { isOfFeed, openEntry } from '../feeds/open-feed.ts';
import { CAPTURED_FILE, PAGE_FILE, text } from '../openapi/content.ts';
import { publicPath } from '../request/public-address.ts';
import { type RouteContext, route } from '../route.ts';
import { comparisonBody } from '../shared/comparison-page.ts';
import { PAGE_POLICY, sharedPage } from '../shared/page.ts';
import { captureBody, type ShownCapture, titleOf } from '../shared/shared-capture-page.ts';
import type { HttpContext } from '../state.ts';

/* Pages and files of shared links. Only signed links are answered, and only with the captures that the link names. */

const linkId = z.string().meta({ description: "A shared link's id." });
const signature = {
  expires: z.string().optional().meta({ description: 'Part of the signed link.' }),
  signature: z.string().optional().meta({ description: 'Part of the signed link.' }),
};
const FAILURES = [
  'link_refused',
  'not_found',
  'artifact_elsewhere',
  'artifact_pending',
  'artifact_damaged',
  'range_not_satisfiable',
  'not_an_image',
  'comparison_too_large',
  'queue_full',
  'database_not_enabled',
  'database_unavailable',
] as const;
const HEADERS = ['ETag', 'Cache-Control', 'X-Capture-Id'] as const;

export const getShared = route({
  method: 'GET',
  path: '/shared/{id}',
  operationId: 'openSharedLink',
  summary: 'What a shared link shows. Needs no API key.',
  tag: 'capture',
  isOpen: true,
  isSignable: true,
  parameters: { id: linkId, ...signature },
  answers: {
    200: {
      description: 'The page, or the file.',
      content: { ...CAPTURED_FILE, ...PAGE_FILE, ...text('text/html') },
      headers: [...HEADERS, 'Content-Security-Policy'],
    },
    206: {
      description: 'The part that was asked for.',
      content: { ...CAPTURED_FILE, ...PAGE_FILE },
      headers: [...HEADERS, 'Content-Range'],
    },
    304: { description: 'The client has it already.', content: {}, headers: ['ETag', 'Cache-Control'] },
  },
  failures: FAILURES,
  handle: async (ctx, { id }, context) => {
    const shared = await opened(ctx, context, id);
    const { link, service } = shared;
    if (link.view !== 'page') await answerFile(ctx, service, link.capture, kindOf(link.view));
    else {
      ctx.body = await pageOf(ctx, context, shared);
      ctx.status = 200;
      ctx.type = 'text/html; charset=utf-8';
      ctx.set('Content-Security-Policy', PAGE_POLICY);
    }
    letCache(ctx, shared, context);
  },
});

export const getSharedPart = route({
  method: 'GET',
  path: '/shared/{id}/{part}',
  operationId: 'openSharedPart',
  summary: 'An image of the page of a shared link. Needs no API key.',
  tag: 'capture',
  isOpen: true,
  isSignable: true,
  parameters: {
    id: linkId,
    part: z.enum(PARTS).meta({ description: '`other`: that of the second capture; `difference`: both, compared.' }),
    ...signature,
  },
  answers: {
    200: { description: 'The image.', content: CAPTURED_FILE, headers: HEADERS },
    206: {
      description: 'The part that was asked for.',
      content: CAPTURED_FILE,
      headers: [...HEADERS, 'Content-Range'],
    },
    304: { description: 'The client has it already.', content: {}, headers: ['ETag', 'Cache-Control'] },
  },
  failures: FAILURES,
  handle: async (ctx, { id, part }, context) => {
    const shared = await opened(ctx, context, id);
    const { link, service } = shared;
    if (link.view !== 'page') throw notShared();
    if (part === 'image') await answerFile(ctx, service, link.capture, 'image');
    else if (link.other === null) throw notShared();
    else if (part === 'other') await answerFile(ctx, service, link.other, 'image');
    else await answerDifference(ctx, shared);
    letCache(ctx, shared, context);
  },
});

/** Returns what a signed link may show. */
async function opened(
  ctx: HttpContext,
  context: Pick<RouteContext, 'service' | 'viewOf'>,
  id: string,
): Promise<Shared> {
  if (ctx.state.isSigned !== true)
    throw new CapstanError('link_refused', 'The link is not complete: its signature is missing.');
  const shared = isOfFeed(id) ? await openEntry(context, id) : await context.service.shared(id, context.viewOf);
  if (shared === undefined) throw notShared();
  ctx.state.captureId = shared.link.capture;
  ctx.set('X-Robots-Tag', 'noindex, nofollow');
  return shared;
}

function notShared(): CapstanError {
  return new CapstanError('not_found', 'The link was revoked, or its capture was removed.');
}

/** Until the link expires, its answers stay the same. Links of feeds do not expire. */
function letCache(ctx: HttpContext, { link }: Shared, { config }: Pick<RouteContext, 'config'>): void {
  // A redirect leads to a URL of an object store, which ends earlier.
  if (![200, 206, 304].includes(ctx.status)) return;
  const seconds = Math.max(0, Math.floor(Math.min(link.expiresAt - Date.now(), config.maxShareDays * DAY_MS) / 1000));
  ctx.set('Cache-Control', `public, max-age=${seconds}`);
}

async function answerFile(
  ctx: HttpContext,
  service: ServiceView,
  id: number,
  kind: ReturnType<typeof kindOf>,
): Promise<void> {
  const artifact = await service.artifacts.open(id, kind);
  if (artifact === undefined) throw await service.whyMissing(id);
  await answerArtifact(ctx, artifact, kind);
}

async function pageOf(
  ctx: HttpContext,
  { config }: Pick<RouteContext, 'config'>,
  { link, service }: Shared,
): Promise<string> {
  const [signingKey = ''] = config.signingKey;
  const pathOf = (part: Part) => publicPath(ctx, linkOf(link, signingKey, part));
  const capture = await shownCapture(service, link.capture, pathOf('image'));
  const title = titleOf(capture.result);
  if (link.other === null) return sharedPage(title, captureBody(capture), link.expiresAt);
  const other = await shownCapture(service, link.other, pathOf('other'));
  const { difference } = await compared(ctx, { link, service }, [capture, other], false);
  const body = comparisonBody(capture, other, difference, pathOf('difference'));
  return sharedPage(`What changed: ${title}`, body, link.expiresAt);
}

async function shownCapture(service: ServiceView, id: number, path: string): Promise<ShownCapture> {
  const [result, info] = await Promise.all([service.results.get(id), service.artifacts.info(id)]);
  if (result === undefined || info === undefined) throw await service.whyMissing(id);
  return { result, info, path };
}

async function answerDifference(ctx: HttpContext, shared: Shared): Promise<void> {
  const { link, service } = shared;
  const [before, after] = await Promise.all([
    shownCapture(service, link.capture, ''),
    shownCapture(service, link.other ?? link.capture, ''),
  ]);
  const { drawing } = await compared(ctx, shared, [before, after], true);
  if (drawing !== null) answerDrawing(ctx, drawing);
}

/** Anyone with the link can compare, so comparisons count for the link and not for a key. */
async function compared(
  ctx: HttpContext,
  { link, service }: Shared,
  [before, after]: readonly [ShownCapture, ShownCapture],
  draws: boolean,
) {
  const found = await service.comparisons.of(before.info, after.info, clientGone(ctx), `share:${link.id}`, { draws });
  if (found === undefined) throw await service.whyMissing(link.capture);
  return found;
}
