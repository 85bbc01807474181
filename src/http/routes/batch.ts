import { setImmediate as nextTurn } from 'node:timers/promises';
import { lastValueFrom, map, takeUntil, tap, toArray } from 'rxjs';
import { z } from 'zod';
import { CapstanError, failure } from '../../capture/errors.ts';
import type { CaptureOutcome } from '../../capture/outcome.ts';
import { callbackUrl, MAX_LINE_BYTES } from '../../capture/request.ts';
import { refusal } from '../../capture/validate.ts';
import type { BatchElement, CaptureService } from '../../service/capture-service.ts';
import { admitCallback } from '../callback.ts';
import { clientGone } from '../client-gone.ts';
import { refuseIdempotencyKey } from '../idempotency.ts';
import { answerLines, type Room } from '../lines/answer-lines.ts';
import { batchElement } from '../lines/batch-elements.ts';
import { bodyLines } from '../lines/body-lines.ts';
import { type BodyDecoder, bodyDecoder, brokenBody, decodedBody, LINES_TYPE } from '../lines/streamed-body.ts';
import { preferLinesOrJson } from '../negotiation.ts';
import { json, lines } from '../openapi/content.ts';
import { failureOf, toBatchLine, toBatchResult } from '../outcome.ts';
import { integerText } from '../parameters.ts';
import { prefer, prefersAsync } from '../prefer.ts';
import { refuseWhenFull } from '../refuse-early.ts';
import { type RequestSchemas, type RouteContext, routeWithBody } from '../route.ts';
import { BatchLineSchema, BatchResultSchema } from '../schemas/answers.ts';
import type { HttpContext } from '../state.ts';
import { ACCEPTED, answerAccepted } from './jobs.ts';

const CONCURRENCY = 'must be an integer of 1 or more';

/** A batch as it was asked for. */
interface Asked {
  readonly elements: Iterable<BatchElement> | AsyncIterable<BatchElement>;
  /** Undefined while they are still coming. */
  readonly size: number | undefined;
  readonly concurrency: number | undefined;
  /** Who is told of the batch's end. */
  readonly callback: string | undefined;
}

/** A bare array in the order of the requests, when the last of them is done; or lines, each as soon as it is there. */
export const postBatch = routeWithBody({
  method: 'POST',
  path: '/batch',
  operationId: 'captureBatch',
  summary: 'Captures many pages.',
  description:
    'One element for each request, in their order; one failure never fails the others. A bad element refuses the whole batch before anything runs.\n\nWith `Accept: application/x-ndjson` the answer is one BatchLine for each request, as soon as it is there. A body of `application/x-ndjson`, one ScreenshotRequest on each line, is worked off as it arrives and may be of any length; its sender is held back while all its captures are under way or its client does not take the answer. Blank lines are skipped; a bad line, or one over 256 KiB, is the failed item of its index; after 1,000 of them the next one ends the batch and says so. A body that inflates to more than 100 times its size is broken off. It is answered with lines, unless `Accept` prefers `application/json`: then at most as many as a BatchRequest may hold. A sender that sends nothing for 5 minutes while it is waited for is cut off. An answer of lines that is broken off ends with a Failure as its last line, and without the end of the HTTP body.',
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
  failures: ['target_forbidden', 'request_timeout', 'queue_full', 'shutting_down'],
  handle: async (ctx, { parameters, body: { requests, concurrency, callback } }, { service }) => {
    refuseParametersOfLines(parameters);
    await admitCallback(ctx, service, callback);
    if (prefersAsync(ctx)) return answerAccepted(ctx, service, 'batch', requests, { concurrency, callback });
    const asLines = preferLinesOrJson(ctx.get('Accept'), 'json') === 'lines';
    await answerBatch(ctx, service, { elements: requests, size: requests.length, concurrency, callback }, asLines);
  },
});

/** JSON has fields for them. */
function refuseParametersOfLines(parameters: object): void {
  const names = Object.keys(parameters);
  const message = `is only for a body of ${LINES_TYPE}; put it into the JSON body`;
  if (names.length > 0) throw refusal(names.map((path) => ({ path, message })));
}

/** A body of lines, which is worked off as it arrives. */
async function answerSentLines(
  ctx: HttpContext,
  { concurrency, callback }: Partial<Pick<Asked, 'concurrency' | 'callback'>>,
  { service, schemas, maxBatch, silenceMs }: RouteContext,
): Promise<void> {
  refuseIdempotencyKey(ctx);
  const asLines = preferLinesOrJson(ctx.get('Accept'), 'lines') === 'lines';
  try {
    // Before the head of the answer, which says that all is well.
    const decoder = bodyDecoder(ctx.req);
    const most = asLines ? Number.POSITIVE_INFINITY : maxBatch;
    const elements = sentElements(ctx, schemas, { silenceMs, most, decoder });
    await admitCallback(ctx, service, callback);
    await answerBatch(ctx, service, { elements, size: undefined, concurrency, callback }, asLines);
  } catch (error) {
    // The rest of the body is read and dropped, so that the client gets to the answer.
    ctx.req.unpipe();
    ctx.req.resume();
    throw error;
  }
}

async function answerBatch(
  ctx: HttpContext,
  service: CaptureService,
  { elements, size, concurrency, callback }: Asked,
  asLines: boolean,
): Promise<void> {
  ctx.vary('Accept');
  const itemsOf = (from: Asked['elements']) =>
    service.submitBatch(from, concurrency, size, callback).pipe(tap(({ outcome }) => noteCutShort(ctx, outcome)));
  if (asLines) return answerLines(ctx, (room) => itemsOf(whenThereIs(room, elements)).pipe(map(toBatchLine)));
  const items =
    size === 0 && callback === undefined
      ? []
      : await lastValueFrom(itemsOf(elements).pipe(takeUntil(clientGone(ctx)), toArray()));
  ctx.type = 'json';
  ctx.body = items.toSorted((a, b) => a.index - b.index).map(toBatchResult);
}

function noteCutShort(ctx: HttpContext, outcome: CaptureOutcome): void {
  if (failureOf(outcome)?.failure.code === 'shutting_down') ctx.state.isCutShort = true;
}

/** Bad lines of one body that are answered; the next one ends the batch. */
const MAX_BAD_LINES = 1_000;

/** What the lines of the body ask for, as they arrive. Errors when there are more than `most`. */
async function* sentElements(
  ctx: HttpContext,
  { screenshot }: RequestSchemas,
  { silenceMs, most, decoder }: { readonly silenceMs: number; readonly most: number; readonly decoder: BodyDecoder },
): AsyncGenerator<BatchElement, void, undefined> {
  let sent = 0;
  let bad = 0;
  const body = decodedBody(ctx.req, decoder);
  try {
    for await (const line of bodyLines(body, { maxBytes: MAX_LINE_BYTES, silenceMs })) {
      sent += 1;
      if (sent > most) {
        throw new CapstanError(
          'invalid_request',
          `An array answers at most ${most} requests, and the captures of those behind it were cancelled: send Accept: ${LINES_TYPE} for more.`,
        );
      }
      const element = batchElement(line, screenshot);
      if ('failure' in element) bad += 1;
      if (bad > MAX_BAD_LINES) {
        yield { url: '', failure: failure('invalid_request', TOO_MANY_BAD_LINES) };
        return;
      }
      yield element;
      // Elements that fail at once would otherwise hold the event loop for as long as the body goes on.
      await nextTurn();
    }
  } catch (error) {
    throw brokenBody(error);
  } finally {
    // The rest of the body is read and dropped, so that the client gets to the answer.
    if (body !== ctx.req) body.destroy();
    ctx.req.resume();
  }
}

const TOO_MANY_BAD_LINES = `The batch ends here: ${MAX_BAD_LINES} lines before this one are bad. This line and those behind it were not read.`;

/** Reads on only when the client takes what it is sent: what is under way is then all that its slowness costs. */
async function* whenThereIs(
  room: Room,
  elements: Iterable<BatchElement> | AsyncIterable<BatchElement>,
): AsyncGenerator<BatchElement, void, undefined> {
  for await (const element of elements) {
    yield element;
    await room();
  }
}
