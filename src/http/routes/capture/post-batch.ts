import { setImmediate as nextTurn } from 'node:timers/promises';
import { lastValueFrom, map, takeUntil, tap, toArray } from 'rxjs';
import { z } from 'zod';
import { takeTurns } from '../../../capture/basics/event-loop-turns.ts';
import { CapstanError, failure, toFailure } from '../../../capture/errors.ts';
import type { CaptureOutcome } from '../../../capture/outcome.ts';
import { callbackUrl, MAX_LINE_BYTES, requestsOfBatch } from '../../../capture/request.ts';
import { refusal } from '../../../capture/validate.ts';
import type { ItemRequest, ServiceView } from '../../../service/capture-service.ts';
import { failureOf, noteCutShort, toBatchLine, toBatchResult } from '../../answer/outcome.ts';
import { BatchLineSchema, BatchResultSchema } from '../../answer/schemas.ts';
import { clientGone } from '../../connection/client-gone.ts';
import { dropBody } from '../../connection/drop-body.ts';
import { callerOf } from '../../keys/callers.ts';
import { answerLines, type Room } from '../../lines/answer-lines.ts';
import { batchItem } from '../../lines/batch-items.ts';
import { bodyLines } from '../../lines/body-lines.ts';
import { type BodyDecoder, bodyDecoder, brokenBody, decodedBody, LINES_TYPE } from '../../lines/streamed-body.ts';
import { refuseIdempotencyKey } from '../../middleware/idempotency.ts';
import { json, lines } from '../../openapi/content.ts';
import { admitCallback } from '../../request/callback.ts';
import { preferLinesOrJson } from '../../request/negotiation.ts';
import { integerText } from '../../request/parameters.ts';
import { prefer, prefersAsync } from '../../request/prefer.ts';
import { refuseWhenFull } from '../../request/refuse-early.ts';
import { spendRate } from '../../request/spend-rate.ts';
import { type RouteContext, routeWithBody } from '../../route.ts';
import type { HttpContext } from '../../state.ts';
import { ACCEPTED, answerAccepted } from '../jobs.ts';

const CONCURRENCY = 'must be an integer of 1 or more';

/** A batch that a client requested. */
interface Asked {
  readonly items: Iterable<ItemRequest> | AsyncIterable<ItemRequest>;
  /** Undefined while items are still arriving. */
  readonly size: number | undefined;
  readonly concurrency: number | undefined;
  /** URL that receives the batch's last event. */
  readonly callback: string | undefined;
  /** Counts forbidden targets. */
  readonly forbidden?: Forbidden;
}

/** Answers with a bare array in the order of the requests, or with lines as soon as each capture has ended. */
export const postBatch = routeWithBody({
  method: 'POST',
  path: '/batch',
  operationId: 'captureBatch',
  summary: 'Captures many pages.',
  description: `One item for each request, in their order; one failure never fails the others. A bad item refuses the whole batch before anything runs.\n\nWith \`Accept: application/x-ndjson\` the answer is one BatchLine for each request, as soon as it is there. A body of \`application/x-ndjson\`, one ScreenshotRequest on each line, is worked off as it arrives and may be of any length; its sender is held back while all its captures are under way or its client does not take the answer. Blank lines are skipped; a bad line, or one over ${MAX_LINE_BYTES / 1024 ** 2} MiB, is the failed item of its index; after 1,000 lines that are bad or have a forbidden target the next one ends the batch and says so. A body that inflates to more than 100 times its size is broken off. It is answered with lines, unless \`Accept\` prefers \`application/json\`: then at most as many as a BatchRequest may hold. A sender that sends nothing for 5 minutes while it is waited for is cut off. An answer of lines that is broken off ends with a Failure as its last line, and without the end of the HTTP body.`,
  tag: 'capture',
  isIdempotent: true,
  headers: z.object({ Prefer: prefer }),
  parameters: {
    concurrency: integerText(z.int({ error: CONCURRENCY }).min(1, { error: CONCURRENCY }), CONCURRENCY)
      .optional()
      .meta({ description: 'For a body of lines: as `concurrency` of a BatchRequest.' }),
    callback: callbackUrl.optional().meta({ description: 'For a body of lines: as `callback` of a BatchRequest.' }),
  },
  screen: refuseWhenFull,
  body: { name: 'BatchRequest', schema: ({ batch }) => batch },
  lines: { name: 'ScreenshotRequest', handle: answerSentLines },
  answers: {
    200: {
      description: 'How each capture ended.',
      content: { ...json(z.array(BatchResultSchema)), ...lines(BatchLineSchema) },
      headers: ['Idempotent-Replayed'],
    },
    202: ACCEPTED,
  },
  failures: ['target_forbidden', 'rate_limited', 'request_timeout', 'queue_full', 'shutting_down'],
  handle: async (ctx, { parameters, body }, context) => {
    const { service, schemas } = context;
    const { concurrency, callback } = body;
    refuseParametersOfLines(parameters);
    const requests = await requestsOfBatch(schemas, body, nextTurn);
    spendRate(ctx, context, requests.length);
    if (prefersAsync(ctx)) {
      await admitCallback(ctx, service, callback);
      return answerAccepted(ctx, service, 'batch', requests, { concurrency, callback });
    }
    const asLines = preferLinesOrJson(ctx.get('Accept'), 'json') === 'lines';
    await answerBatch(ctx, service, { items: requests, size: requests.length, concurrency, callback }, asLines);
  },
});

/** Refuses query parameters that have a field in a JSON body. */
function refuseParametersOfLines(parameters: object): void {
  const names = Object.keys(parameters);
  const message = `is only for a body of ${LINES_TYPE}; put it into the JSON body`;
  if (names.length > 0) throw refusal(names.map((path) => ({ path, message })));
}

/** Captures the lines of a body as they arrive. */
async function answerSentLines(
  ctx: HttpContext,
  { concurrency, callback }: Partial<Pick<Asked, 'concurrency' | 'callback'>>,
  context: RouteContext,
): Promise<void> {
  const { service, config } = context;
  refuseIdempotencyKey(ctx);
  const asLines = preferLinesOrJson(ctx.get('Accept'), 'lines') === 'lines';
  try {
    // Refusals must come before the head of the answer.
    const decoder = bodyDecoder(ctx.req);
    const maxItems = asLines ? Number.POSITIVE_INFINITY : config.maxBatch;
    const forbidden: Forbidden = { count: 0 };
    const items = sentItems(ctx, context, { maxItems, decoder, forbidden });
    await answerBatch(ctx, service, { items, size: undefined, concurrency, callback, forbidden }, asLines);
  } catch (error) {
    dropBody(ctx.req);
    throw error;
  }
}

async function answerBatch(
  ctx: HttpContext,
  service: ServiceView,
  { items, size, concurrency, callback, forbidden }: Asked,
  asLines: boolean,
): Promise<void> {
  ctx.vary('Accept');
  const itemsOf = (from: Asked['items'], onAdmitted = () => {}) => {
    const onBatch = (id: string): void => {
      ctx.state.batch = id;
      onAdmitted();
    };
    return service.submitBatch(from, { concurrency, size, callback, by: { ...callerOf(ctx), onBatch } }).pipe(
      tap(({ outcome }) => {
        noteCutShort(ctx, outcome);
        if (forbidden !== undefined && isForbidden(outcome)) forbidden.count += 1;
      }),
    );
  };
  // A batch or a callback that is refused must be refused before the head of the answer.
  if (asLines)
    return answerLines(ctx, (room, begin) => itemsOf(whenThereIs(room, items), begin).pipe(map(toBatchLine)));
  const ended = await lastValueFrom(itemsOf(items).pipe(takeUntil(clientGone(ctx)), toArray()));
  // Converted one at a time: the results of many long URLs have several megabytes.
  const letOthers = takeTurns();
  const results: string[] = [];
  for (const item of ended.toSorted((a, b) => a.index - b.index)) {
    results.push(JSON.stringify(toBatchResult(item)));
    await letOthers();
  }
  ctx.type = 'json';
  ctx.body = `[${results.join()}]`;
}

function isForbidden(outcome: CaptureOutcome): boolean {
  return failureOf(outcome)?.failure.code === 'target_forbidden';
}

/** Maximum number of lines in a body that are bad or whose target is forbidden; the next one ends the batch. */
const MAX_BAD_LINES = 1_000;

/** Items of a batch whose target was forbidden. Each costs an event and a line of the log. */
interface Forbidden {
  count: number;
}

interface SentLimits {
  readonly maxItems: number;
  readonly decoder: BodyDecoder;
  readonly forbidden: Forbidden;
}

/**
 * Generates the items of a body of lines as they arrive. Each counts towards the rate of the caller's API key; one beyond
 * it is a failed item. @throws `invalid_request` past `maxItems` items.
 */
async function* sentItems(
  ctx: HttpContext,
  context: RouteContext,
  { maxItems, decoder, forbidden }: SentLimits,
): AsyncGenerator<ItemRequest, void, undefined> {
  const { schemas, silenceMs } = context;
  let sent = 0;
  let bad = 0;
  const body = decodedBody(ctx.req, decoder);
  try {
    for await (const line of bodyLines(body, { maxBytes: MAX_LINE_BYTES, silenceMs })) {
      sent += 1;
      if (sent > maxItems) {
        throw new CapstanError(
          'invalid_request',
          `A JSON array answers at most ${maxItems} requests. The batch was cancelled: send Accept: ${LINES_TYPE} for longer ones.`,
        );
      }
      const item = batchItem(line, schemas.screenshot);
      if ('failure' in item) bad += 1;
      if (bad + forbidden.count > MAX_BAD_LINES) {
        yield { url: '', failure: failure('invalid_request', TOO_MANY_BAD_LINES) };
        return;
      }
      yield 'failure' in item ? item : (lineBeyondRate(ctx, context, item.target.url) ?? item);
    }
  } catch (error) {
    throw brokenBody(error);
  } finally {
    if (body !== ctx.req) body.destroy();
    dropBody(ctx.req);
  }
}

function lineBeyondRate(ctx: HttpContext, context: RouteContext, url: string): ItemRequest | undefined {
  try {
    spendRate(ctx, context, 1);
    return undefined;
  } catch (error) {
    return { url, failure: toFailure(error) };
  }
}

const TOO_MANY_BAD_LINES = `The batch ends here: ${MAX_BAD_LINES} lines before this one are bad or have a forbidden target. This line and the rest of the body were not read.`;

/** Passes items on only while the client reads its answers, so that a slow client costs no memory. */
async function* whenThereIs(
  room: Room,
  items: Iterable<ItemRequest> | AsyncIterable<ItemRequest>,
): AsyncGenerator<ItemRequest, void, undefined> {
  for await (const item of items) {
    yield item;
    await room();
  }
}
