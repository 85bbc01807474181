import { CATALOGUE, type CapstanError, type FailureCode } from '../../capture/errors.ts';
import type { HttpContext } from '../state.ts';

/** Default of `Retry-After` in seconds. */
const RETRY_AFTER_SECONDS = 1;

/** The form of every JSON answer except the bare arrays. */
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

/** Returns the JSON before and after `data` in a successful answer, for data that is streamed. */
export function envelopeAround(ctx: HttpContext): { readonly head: string; readonly tail: string } {
  return {
    head: '{"success":true,"message":"","data":',
    tail: `,"request_id":${JSON.stringify(ctx.state.requestId)}}`,
  };
}

/** Answers with a failure. `data` is the failed result. Invalid fields are sent in `data` too, for programs. */
export function answerFailure(ctx: HttpContext, error: CapstanError, data?: unknown): void {
  const details = data ?? (error.problems.length > 0 ? { problems: error.problems } : undefined);
  ctx.status = error.status;
  ctx.type = 'json';
  if (CATALOGUE[error.code].retry === 'soon')
    ctx.set('Retry-After', String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS));
  ctx.body = failureEnvelope(error, ctx.state.requestId, details);
}

/** Returns the envelope of a failure, also for requests that never reach the application. */
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
