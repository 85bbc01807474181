import type { RouteContext } from '../route.ts';
import type { HttpContext } from '../state.ts';
import { prefersAsync } from './prefer.ts';

/** Bodies up to this size usually arrive together with the head of their request. */
const MAX_SMALL_BODY_BYTES = 8 * 1024;
/**
 * Time after which a request whose body has not arrived is refused if no capture is admitted, in milliseconds. A round
 * trip is far shorter.
 */
const LATE_BODY_MS = 1_000;

/**
 * Refuses a request for captures while none is admitted, before its body is read. Does not refuse jobs, which need no
 * slot, or requests with an `Idempotency-Key`, which may have been answered already.
 */
export function refuseWhenFull(ctx: HttpContext, { service }: RouteContext): void {
  if (prefersAsync(ctx) || ctx.get('Idempotency-Key') !== '') return;
  const refusal = service.refuseUnread();
  if (refusal !== undefined) throw refusal;
}

/**
 * Refuses a request for one capture like `refuseWhenFull`, unless its body is small. A small body is read first,
 * because it may ask for an earlier capture, which needs no slot.
 */
export function refuseLargeWhenFull(ctx: HttpContext, context: RouteContext): void {
  const { headers } = ctx.req;
  const isSmall = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= MAX_SMALL_BODY_BYTES;
  if (!isSmall || headers['content-encoding'] !== undefined) refuseWhenFull(ctx, context);
}

/** Refuses the body of a capture like `refuseWhenFull`, unless it asks for an earlier capture. */
function refuseNewWhenFull(body: unknown, ctx: HttpContext, context: RouteContext): void {
  const mayReuse = typeof body === 'object' && body !== null && 'cacheMaxAgeMs' in body && body.cacheMaxAgeMs !== 0;
  if (!mayReuse) refuseWhenFull(ctx, context);
}

/**
 * Waits for the body of a request for one capture. If no capture is admitted, refuses the request when its body cannot
 * be read, has not arrived after 1 s, or does not ask for an earlier capture. Runs before the schema parses the body.
 */
export async function awaitBodyOrRefuse(
  reading: Promise<void>,
  ctx: HttpContext,
  context: RouteContext,
): Promise<void> {
  const late = Promise.withResolvers<never>();
  let isRefused = false;
  const timer = setTimeout(() => {
    try {
      refuseWhenFull(ctx, context);
    } catch (refusal) {
      isRefused = true;
      late.reject(refusal);
    }
  }, LATE_BODY_MS);
  const read = reading.catch((error: unknown) => {
    // A request is refused, and counted, only once.
    if (!isRefused) refuseWhenFull(ctx, context);
    throw error;
  });
  try {
    await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
  refuseNewWhenFull(ctx.request.body, ctx, context);
}
