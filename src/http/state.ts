import type Koa from 'koa';
import type { ArtifactKind } from '../capture/artifacts/artifacts.ts';
import type { Client } from '../capture/client.ts';
import type { KeyScope } from '../capture/named-key.ts';
import type { CollectedLines } from './lines/collected-lines.ts';

/** The client of a request, as identified by its API key. */
export interface Caller extends Client {
  readonly scope: KeyScope;
  /** Maximum number of captures in a minute; null for no limit. */
  readonly rate: number | null;
}

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
  /** Set when the service did not begin or finish the work: the answer must not be kept for an `Idempotency-Key`. */
  isCutShort?: boolean;
  /** The file of a capture that is the answer. */
  file?: { readonly capture: number; readonly kind: ArtifactKind };
  /** Collects the lines of an answer that is to be kept for an `Idempotency-Key`. */
  lines?: CollectedLines;
}

export type HttpContext = Koa.ParameterizedContext<HttpState>;
export type HttpMiddleware = Koa.Middleware<HttpState>;
