import { z } from 'zod';
import { sentInfo } from '../../capture/artifacts/artifact-paths.ts';
import { cutPage } from '../answer/paging.ts';
import { ScreenshotInfoSchema } from '../answer/schemas.ts';
import { json } from '../openapi/content.ts';
import { idCursor } from '../request/cursor.ts';
import { DEFAULT_LIMIT, idCursorParameter, limitParameter } from '../request/parameters.ts';
import { route } from '../route.ts';

/** Lists the captures in the artifact store. */
export const getScreenshots = route({
  method: 'GET',
  path: '/screenshots',
  operationId: 'listScreenshots',
  summary:
    'The newest screenshots. Works without a database; with captures in GridFS it needs MongoDB, and with captures in an object store that.',
  tag: 'capture',
  parameters: { limit: limitParameter(String(DEFAULT_LIMIT)), cursor: idCursorParameter },
  answers: {
    200: { description: 'Newest first.', content: json(z.array(ScreenshotInfoSchema)), headers: ['Link'] },
  },
  failures: ['artifacts_unavailable', 'database_unavailable'],
  handle: async (ctx, { limit = DEFAULT_LIMIT, cursor }, { service }) => {
    const items = cutPage(ctx, await service.artifacts.list(limit + 1, cursor), limit, (last) => idCursor(last.id));
    ctx.type = 'json';
    ctx.body = items.map(sentInfo);
  },
});
