import type Router from '@koa/router';
import { lastValueFrom, map, takeUntil, toArray } from 'rxjs';
import { CapstanError } from '../../capture/errors.ts';
import type { BatchElement, CaptureService } from '../../service/capture-service.ts';
import { admitCallback } from '../callback.ts';
import { clientGone } from '../client-gone.ts';
import { refuseIdempotencyKey } from '../idempotency.ts';
import { jsonBody } from '../json-body.ts';
import { answerLines, type Room } from '../lines/answer-lines.ts';
import { batchElement } from '../lines/batch-elements.ts';
import { bodyLines } from '../lines/body-lines.ts';
import {
  type BodyDecoder,
  bodyDecoder,
  brokenBody,
  decodedBody,
  isStreamedBody,
  LINES_TYPE,
} from '../lines/streamed-body.ts';
import { preferLinesOrJson } from '../negotiation.ts';
import { toBatchLine, toBatchResult } from '../outcome.ts';
import { prefersAsync } from '../prefer.ts';
import { parseOrRefuse } from '../problems.ts';
import { BatchQuery, parseQuery } from '../schemas/queries.ts';
import { MAX_LINE_BYTES, type RequestLimits, type requestSchemas } from '../schemas/requests.ts';
import type { HttpContext, HttpMiddleware, HttpState } from '../state.ts';
import { answerAccepted } from './jobs.ts';

export interface BatchLimits extends Pick<RequestLimits, 'maxBatch'> {
  /** How long a sender of lines may send nothing while it is waited for, in milliseconds. */
  readonly silenceMs: number;
}

/** A batch as it was asked for. */
interface Asked {
  readonly elements: Iterable<BatchElement> | AsyncIterable<BatchElement>;
  /** Undefined while they are still coming. */
  readonly size: number | undefined;
  readonly concurrency: number | undefined;
  /** Who is told of the batch's end. */
  readonly callback: string | undefined;
}

/**
 * POST /batch: a bare array in the order of the requests, when the last of them is done; or lines, each as soon as it
 * is there. A body of lines is worked off as it arrives.
 */
export function batchRoutes(
  router: Router<HttpState>,
  service: CaptureService,
  schemas: ReturnType<typeof requestSchemas>,
  limits: BatchLimits,
  once: HttpMiddleware,
): void {
  const fromLines: HttpMiddleware = async (ctx, next) => {
    if (!isStreamedBody(ctx.req)) return next();
    refuseIdempotencyKey(ctx);
    const { concurrency, callback } = parseQuery(BatchQuery, ctx.querystring);
    const asLines = preferLinesOrJson(ctx.get('Accept'), 'lines') === 'lines';
    try {
      // Before the head of the answer, which says that all is well.
      const decoder = bodyDecoder(ctx.req);
      const most = asLines ? Number.POSITIVE_INFINITY : limits.maxBatch;
      const elements = sentElements(ctx, schemas, { ...limits, most, decoder });
      await admitCallback(ctx, service, callback);
      await answerBatch(ctx, service, { elements, size: undefined, concurrency, callback }, asLines);
    } catch (error) {
      // The rest of the body is read and dropped, so that the client gets to the answer.
      ctx.req.unpipe();
      ctx.req.resume();
      throw error;
    }
  };

  router.post('/batch', fromLines, ...jsonBody(LINES_TYPE), once, async (ctx) => {
    const { requests, concurrency, callback } = parseOrRefuse(schemas.batch, ctx.request.body);
    await admitCallback(ctx, service, callback);
    if (prefersAsync(ctx)) return answerAccepted(ctx, service, 'batch', requests, { concurrency, callback });
    const asLines = preferLinesOrJson(ctx.get('Accept'), 'json') === 'lines';
    const asked = { elements: requests, size: requests.length, concurrency, callback };
    await answerBatch(ctx, service, asked, asLines);
  });
}

async function answerBatch(
  ctx: HttpContext,
  service: CaptureService,
  { elements, size, concurrency, callback }: Asked,
  asLines: boolean,
): Promise<void> {
  ctx.vary('Accept');
  if (asLines) {
    return answerLines(ctx, (room) =>
      service.submitBatch(whenThereIs(room, elements), concurrency, size, callback).pipe(map(toBatchLine)),
    );
  }
  const items =
    size === 0 && callback === undefined
      ? []
      : await lastValueFrom(
          service.submitBatch(elements, concurrency, size, callback).pipe(takeUntil(clientGone(ctx)), toArray()),
        );
  ctx.type = 'json';
  ctx.body = items.toSorted((a, b) => a.index - b.index).map(toBatchResult);
}

/** What the lines of the body ask for, as they arrive. Errors when there are more than `most`. */
async function* sentElements(
  ctx: HttpContext,
  { screenshot }: ReturnType<typeof requestSchemas>,
  { silenceMs, most, decoder }: { readonly silenceMs: number; readonly most: number; readonly decoder: BodyDecoder },
): AsyncGenerator<BatchElement, void, undefined> {
  let sent = 0;
  try {
    for await (const line of bodyLines(decodedBody(ctx.req, decoder), { maxBytes: MAX_LINE_BYTES, silenceMs })) {
      sent += 1;
      if (sent > most) {
        throw new CapstanError(
          'invalid_request',
          `An array answers at most ${most} requests, and the captures of those behind it were cancelled: send Accept: ${LINES_TYPE} for more.`,
        );
      }
      yield batchElement(line, screenshot);
    }
  } catch (error) {
    throw brokenBody(error);
  }
}

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
