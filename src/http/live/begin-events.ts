import { CapstanError } from '../../capture/errors.ts';
import type { Places } from '../../fairness/share.ts';
import { callerOf } from '../keys/callers.ts';
import type { HttpContext } from '../state.ts';

/** Value of `Retry-After`, in seconds: a subscriber that does not read is disconnected after this time. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Takes a place for a client that is sent events, until its answer ends.
 * @throws CapstanError with `too_many_subscribers`.
 */
export function takePlace(ctx: HttpContext, subscribers: Places): void {
  const { owner } = callerOf(ctx);
  const leave = subscribers.take(owner);
  if (leave === undefined) {
    const share = owner === null ? '' : `, and the API key ${owner} has its share of them`;
    const reason = `There are ${subscribers.taken} subscribers to events${share}.`;
    throw new CapstanError('too_many_subscribers', reason, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  ctx.res.once('close', leave);
}

/** Sends the head of an answer of Server-Sent Events. Returns false when only the head was asked for. */
export function beginEvents(ctx: HttpContext): boolean {
  ctx.status = 200;
  ctx.set('Content-Type', 'text/event-stream');
  // Otherwise nginx buffers the events.
  ctx.set('X-Accel-Buffering', 'no');
  if (ctx.method === 'HEAD') return false;
  // The answer ends with its connection, so it needs no chunked framing.
  ctx.set('Connection', 'close');
  ctx.res.removeHeader('Transfer-Encoding');
  ctx.respond = false;
  ctx.res.flushHeaders();
  return true;
}
