import type Router from '@koa/router';
import type { CaptureService } from '../../service/capture-service.ts';
import { idCursor } from '../cursor.ts';
import { cutPage, linkNext } from '../paging.ts';
import { DEFAULT_LIMIT, parseQuery, ScreenshotsQuery } from '../schemas/queries.ts';
import type { HttpState } from '../state.ts';

/** GET /screenshots: what lies on the disk, newest first. Needs no database. */
export function screenshotsRoutes(router: Router<HttpState>, service: CaptureService): void {
  router.get('/screenshots', async (ctx) => {
    const { limit = DEFAULT_LIMIT, cursor } = parseQuery(ScreenshotsQuery, ctx.querystring);
    const { items, continueAfter } = cutPage(await service.artifacts.list(limit + 1, cursor), limit);
    if (continueAfter !== undefined) linkNext(ctx, idCursor(continueAfter.id));
    ctx.type = 'json';
    ctx.body = items;
  });
}
