import { CATALOGUE, type CapstanError, type FailureCode } from '../capture/errors.ts';
import type { HttpContext } from './state.ts';

/** Seconds, when nobody knows better: a capture takes a few. */
const RETRY_AFTER_SECONDS = 1;

/** What every JSON answer is, but for the bare arrays. */
export interface Envelope {
  readonly success: boolean;
  readonly message: string;
  readonly data?: unknown;
  readonly error?: string;
  readonly code?: FailureCode;
  readonly request_id: string;
}

export function answer(ctx: HttpContext, data: unknown, message = ''): void {
  ctx.status = 200;
  ctx.type = 'json';
  ctx.body = { success: true, message, data, request_id: ctx.state.requestId } satisfies Envelope;
}

/** What stands around `data` in the answer to a successful retrieval, for data that is written as it comes. */
export function envelopeAround(ctx: HttpContext): { readonly head: string; readonly tail: string } {
  return {
    head: '{"success":true,"message":"","data":',
    tail: `,"request_id":${JSON.stringify(ctx.state.requestId)}}`,
  };
}

/** `data` is the failed result, where there is one; bad fields are `data` too, so that programs need not read text. */
export function answerFailure(ctx: HttpContext, error: CapstanError, data?: unknown): void {
  const details = data ?? (error.problems.length > 0 ? { problems: error.problems } : undefined);
  ctx.status = error.status;
  ctx.type = 'json';
  if (error.code === 'queue_full' || error.code === 'idempotency_in_flight')
    ctx.set('Retry-After', String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  ctx.body = failureEnvelope(error, ctx.state.requestId, details);
}

/** The failure alone, also for answers that never reach the application. */
export function failureEnvelope(error: CapstanError, requestId: string, data?: unknown): Envelope {
  return {
    success: false,
    message: CATALOGUE[error.code].text,
    ...(data === undefined ? {} : { data }),
    error: error.message,
    code: error.code,
    request_id: requestId,
  };
}
