import type Koa from 'koa';

/** What the middleware know of one request. */
export interface HttpState {
  /** The client's own when it sent a sane one. */
  requestId: string;
  /** The capture that the request is about, as soon as that is known. */
  captureId?: number;
  /** Digest of the key that let the request in, where keys are asked for. */
  client?: string;
  /** Set when the end of the service cut the work short, so that the answer must not be kept for an `Idempotency-Key`. */
  isCutShort?: boolean;
  /** Collects the lines of an answer, where somebody wants them before it ends. */
  lines?: string[];
}

export type HttpContext = Koa.ParameterizedContext<HttpState>;
export type HttpMiddleware = Koa.Middleware<HttpState>;
