import { z } from 'zod';
import { CapstanError } from '../../../capture/errors.ts';
import { parseOrRefuse } from '../../../capture/validate.ts';
import { CAPTURED_FILE } from '../../openapi/content.ts';
import { bodyOfQuery, captureQuery } from '../../request/capture-query.ts';
import { mayBeOfOtherPage } from '../../request/other-page.ts';
import { spendRate } from '../../request/spend-rate.ts';
import { type RouteContext, route } from '../../route.ts';
import type { HttpContext } from '../../state.ts';
import { answerNewFile, CAPTURE_FAILURES, CAPTURED_HEADERS, captureOrAnswerFailure } from './post-screenshot.ts';

/** Captures a page and answers with its image, for `<img>` and quick scripts. */
export const captureByQuery = route({
  method: 'GET',
  path: '/screenshot',
  operationId: 'captureByQuery',
  summary: 'Captures one page and answers with the image.',
  description:
    'The options are those of `POST /screenshot`. With API keys configured, it needs one, or a signed link. A page of another origin needs a signed link, unless its origin is one of `--cors-origins`. Caches keep the image for `cacheMaxAgeMs`.',
  tag: 'capture',
  scope: 'capture',
  isSignable: true,
  parameters: {
    ...captureQuery,
    expires: z
      .string()
      .optional()
      .meta({ type: 'integer', description: 'Of a signed link: seconds since the Unix epoch, last but one.' }),
    signature: z.string().optional().meta({
      description: 'Of a signed link: HMAC-SHA-256 of path and query before `&signature=`, in hexadecimal, last.',
    }),
  },
  answers: {
    200: {
      description: 'The image, captured and stored.',
      content: CAPTURED_FILE,
      headers: CAPTURED_HEADERS,
    },
  },
  failures: [...CAPTURE_FAILURES, 'rate_limited', 'link_refused'],
  handle: async (ctx, { expires: _expires, signature: _signature, ...query }, context) => {
    refuseOtherPages(ctx, context);
    const request = parseOrRefuse(context.schemas.screenshot, bodyOfQuery(query));
    spendRate(ctx, context, 1);
    const outcome = await captureOrAnswerFailure(ctx, context, request);
    if (outcome === undefined) return;
    await answerNewFile(ctx, context.service, outcome.result);
    const maxAge = Math.floor(request.cacheMaxAgeMs / 1000);
    ctx.set('Cache-Control', maxAge > 0 ? `private, max-age=${maxAge}` : 'no-store');
  },
});

/**
 * Refuses requests that have neither a signature nor an API key, and that a page of another origin may have sent. A
 * session is no key: browsers send its cookie for pages of other ports of this host, too.
 * @throws `link_refused`
 */
function refuseOtherPages(ctx: HttpContext, { config }: Pick<RouteContext, 'config'>): void {
  const { isSigned, client, hasSession } = ctx.state;
  if (isSigned === true || (client !== undefined && hasSession !== true)) return;
  if (config.corsOrigins.includes(ctx.get('Origin')) || !mayBeOfOtherPage(ctx)) return;
  throw new CapstanError(
    'link_refused',
    'A page of another origin may have requested this capture: sign the link, send an API key, or start the service with --cors-origins. A program must send a User-Agent that is not the one of a browser.',
  );
}
