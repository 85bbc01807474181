import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { boundedThumbnail, type Thumbnail, thumbnailName } from '../../capture/artifacts/thumbnail.ts';
import type { ServiceView } from '../../service/capture-service.ts';
import { clientGone } from '../connection/client-gone.ts';
import { callerOf } from '../keys/callers.ts';
import type { HttpContext } from '../state.ts';
import { CACHE_CONTROL } from './artifact-answer.ts';
import { matchesEtag } from './if-none-match.ts';

/**
 * Answers with a thumbnail of a capture, or with 304 without making it. Ranges are not supported, because thumbnails
 * are small.
 */
export async function answerThumbnail(
  ctx: HttpContext,
  service: ServiceView,
  info: ScreenshotInfo,
  asked: Thumbnail,
): Promise<void> {
  const wanted = boundedThumbnail(asked, info);
  const etag = `"${info.sha256}-${thumbnailName(wanted)}"`;
  const isKnown = matchesEtag(ctx.get('If-None-Match'), etag);
  const thumbnail = isKnown
    ? undefined
    : await service.thumbnails.of(info, wanted, clientGone(ctx), callerOf(ctx).owner);
  if (!isKnown && thumbnail === undefined) throw await service.whyMissing(info.id);
  ctx.set({ 'Cache-Control': CACHE_CONTROL, 'X-Capture-Id': String(info.id), ETag: etag });
  if (thumbnail === undefined) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  ctx.type = `image/${wanted.format}`;
  ctx.body = thumbnail;
}
