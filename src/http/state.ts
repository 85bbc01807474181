import type Koa from 'koa';
import type { Caller } from './keys/callers.ts';

/** State of a request that middleware share. */
export interface HttpState {
  /** The client's own id when it sent a valid one, otherwise a new one. */
  requestId: string;
  /** Id of the request's capture, once it is known. */
  captureId?: number;
  /** Id of the request's batch, once it is known. */
  batch?: string;
  /** SHA-256 of the request's API key, in hex, when it is one of the configured keys. */
  client?: string | undefined;
  /** Whether `client` is that of a session, and the request has no key. */
  hasSession?: boolean;
  /** The named key behind `client`; see `callerOf`. */
  caller?: Caller | undefined;
  /** Path of the route that answers, for traces. */
  route?: string;
  /** Whether the request has a valid signed link. */
  isSigned?: boolean;
  /** Set when the stop of the service cut the work short: the answer must not be kept for an `Idempotency-Key`. */
  isCutShort?: boolean;
  /** Collects the lines of an answer that is to be kept for an `Idempotency-Key`. */
  lines?: string[];
}

export type HttpContext = Koa.ParameterizedContext<HttpState>;
export type HttpMiddleware = Koa.Middleware<HttpState>;
