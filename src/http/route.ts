import type { Logger } from 'pino';
import { z } from 'zod';
import type { FailureCode } from '../capture/errors.ts';
import type { KeyScope } from '../capture/named-key.ts';
import type { requestSchemas } from '../capture/request.ts';
import { parseOrRefuse } from '../capture/validate.ts';
import type { HttpConfig } from '../config/slices.ts';
import type { Places } from '../fairness/share.ts';
import type { Groupings } from '../grouping/groupings.ts';
import type { RunningCalls } from '../mcp/running-calls.ts';
import type { ServiceView } from '../service/capture-service.ts';
import type { Maker, MakerView } from './keys/makers.ts';
import type { RateLimits } from './keys/rate-limits.ts';
import { isStreamedBody, LINES_TYPES } from './lines/streamed-body.ts';
import type { FanOut } from './live/fan-out.ts';
import type { Content } from './openapi/content.ts';
import type { HeaderName } from './openapi/headers.ts';
import { jsonBody } from './request/json-body.ts';
import { readParameters } from './request/query.ts';
import { requireUtf8 } from './request/utf8.ts';
import type { LoginLimits } from './session/login-limits.ts';
import type { Sessions } from './session/sessions.ts';
import type { HttpContext, HttpMiddleware } from './state.ts';

/*
 * A route is declared once: its path, its inputs, its answers and its handler. The router (`app.ts`) and the OpenAPI
 * document (`openapi/`) are both built from the list of declarations (`routes/all.ts`).
 */

/** Groups of routes in the OpenAPI document. */
export const TAGS = {
  capture: 'Captures, their images and their HTML snapshots.',
  results: 'Records of captures: lists, searches, exports.',
  operations: 'State, limits and health of the service.',
} as const;

/** The service, the configuration and the parts of the application, for handlers. */
export interface RouteContext {
  readonly service: ServiceView;
  readonly config: HttpConfig;
  readonly schemas: RequestSchemas;
  /** Maximum silence of the sender of a body of lines while the service waits for it, in milliseconds. */
  readonly silenceMs: number;
  readonly fanOut: FanOut;
  /** The places of subscribers to events. */
  readonly subscribers: Places;
  readonly rates: RateLimits;
  readonly groupings: Groupings;
  /** Runs a handler at most once for each `Idempotency-Key`. */
  readonly once: HttpMiddleware;
  /** Calls of agents that another request may cancel. */
  readonly agentCalls: RunningCalls;
  /** Returns what the key of a maker sees now; undefined when it is not accepted any more. */
  readonly viewOf: (maker: Maker) => MakerView | undefined;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly logins: LoginLimits;
  /** Logs that a session has begun. */
  readonly noteLogin: (ctx: HttpContext) => void;
  /** Returns the OpenAPI document, as JSON. */
  readonly document: () => string;
}

type RequestSchemas = ReturnType<typeof requestSchemas>;

/** Dependencies of the routes that every process has, workers of a cluster included. */
export interface OperationsContext {
  readonly service: Pick<ServiceView, 'readiness' | 'stats' | 'pressure' | 'tallies'> & {
    /** A worker reads nothing for clients. */
    readonly reads?: ServiceView['reads'];
  };
  /** Undefined in a worker, which has no subscribers. */
  readonly fanOut?: Pick<FanOut, 'size'>;
}

/** An answer that is not a failure, as the OpenAPI document describes it. */
export interface Answer {
  readonly description: string;
  readonly content: Content;
  readonly headers?: readonly HeaderName[];
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With path parameters in braces: `/results/{id}`. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: keyof typeof TAGS;
  /** Answered without an API key. */
  readonly isOpen?: true;
  /** Answered by a signed link without an API key. */
  readonly isSignable?: true;
  /** Scope that an API key needs. @default `read` for GET, `capture` for POST, `admin` for PATCH and DELETE */
  readonly scope?: KeyScope;
  /** Scope that a key needs with `--isolate-keys`, because it reaches its own captures alone. @default `scope` */
  readonly isolatedScope?: KeyScope;
  /** Answers 503 without a reachable database, before the request is validated. */
  readonly needsDatabase?: true;
  /** Takes an `Idempotency-Key`. */
  readonly isIdempotent?: true;
  /** Runs before parameters and body are read. Throws when the request is refused regardless of their content. */
  readonly screen?: (ctx: HttpContext, context: RouteContext) => void;
  /** Request headers that the handler reads. */
  readonly headers?: z.ZodObject;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Failures besides those that follow from the rest of the declaration (see `openapi/failures.ts`). */
  readonly failures?: readonly FailureCode[];
}

/** A JSON body. */
interface RequestBody<B extends z.ZodType = z.ZodType> {
  /** The schema's name in the OpenAPI document. */
  readonly name: string;
  readonly schema: (schemas: RequestSchemas) => B;
  /** Waits for `reading`, which reads the body. @default awaits `reading` */
  readonly awaitRead?: (reading: Promise<void>, ctx: HttpContext, context: RouteContext) => Promise<void>;
  /** Completes the body from the headers of its request, before the schema parses it. */
  readonly complete?: (body: unknown, ctx: HttpContext) => unknown;
}

/** A body of lines or a list, accepted instead of JSON. Its handler reads it as it arrives. */
interface LinesBody<P> {
  /** Name of the schema of a line in the OpenAPI document; null for text. */
  readonly name: string | null;
  /** @default `LINES_TYPES` */
  readonly types?: readonly string[];
  readonly handle: (ctx: HttpContext, parameters: P, context: RouteContext) => Promise<void>;
}

/** The parameters of path and query, each read by its schema. */
type ParametersOf<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

export interface Route<C = RouteContext> extends RouteFacts {
  readonly parameters: z.ZodObject;
  readonly body?: RequestBody;
  readonly lines?: Pick<LinesBody<never>, 'name' | 'types'>;
  /** Reads the request by the schemas of the route, and answers it. */
  readonly handler: (context: C) => RouteHandler;
}

export type RouteHandler = (
  ctx: HttpContext & { readonly params: Readonly<Record<string, string>> },
) => Promise<void> | void;

/** A route whose requests have no body. */
export function route<S extends z.ZodRawShape, C = RouteContext>({
  handle,
  ...declared
}: RouteFacts & {
  readonly parameters: S;
  readonly handle: (ctx: HttpContext, parameters: ParametersOf<S>, context: C) => Promise<void> | void;
}): Route<C> {
  const parameters = z.object(declared.parameters);
  return {
    ...declared,
    parameters,
    handler: (context) => (ctx) => handle(ctx, readParameters(parameters, ctx.params, ctx.querystring), context),
  };
}

/** A route whose requests have a JSON body. */
export function routeWithBody<S extends z.ZodRawShape, B extends z.ZodType>({
  handle,
  ...declared
}: RouteFacts & {
  readonly parameters: S;
  readonly body: RequestBody<B>;
  readonly lines?: LinesBody<ParametersOf<S>>;
  readonly handle: (
    ctx: HttpContext,
    request: { readonly parameters: ParametersOf<S>; readonly body: z.output<B> },
    context: RouteContext,
  ) => Promise<void> | void;
}): Route {
  const parameters = z.object(declared.parameters);
  const { body, lines, isIdempotent = false } = declared;
  return {
    ...declared,
    parameters,
    handler: (context) => {
      const schema = body.schema(context.schemas);
      const types = lines?.types ?? LINES_TYPES;
      const readBody = jsonBody(lines === undefined ? undefined : types[0]);
      return async (ctx) => {
        declared.screen?.(ctx, context);
        const read = readParameters(parameters, ctx.params, ctx.querystring);
        if (lines !== undefined && isStreamedBody(ctx.req, types)) {
          if (lines.name !== null) requireUtf8(ctx.req);
          return lines.handle(ctx, read, context);
        }
        await (body.awaitRead?.(readBody(ctx), ctx, context) ?? readBody(ctx));
        const answer = async () => {
          const sent = body.complete?.(ctx.request.body, ctx) ?? ctx.request.body;
          await handle(ctx, { parameters: read, body: parseOrRefuse(schema, sent) }, context);
        };
        return isIdempotent ? context.once(ctx, answer) : answer();
      };
    },
  };
}

/** Returns whether a parameter is part of the path; the others are in the query. */
export function isPathParameter({ path }: Pick<Route, 'path'>, name: string): boolean {
  return path.includes(`{${name}}`);
}

/** Returns the scope that an API key needs for a route. */
export function scopeOf(
  { scope, isolatedScope, method }: Pick<Route, 'scope' | 'isolatedScope' | 'method'>,
  isIsolated = false,
): KeyScope {
  if (isIsolated && isolatedScope !== undefined) return isolatedScope;
  if (scope !== undefined) return scope;
  return method === 'GET' ? 'read' : method === 'POST' ? 'capture' : 'admin';
}
