import { z } from 'zod';
import { CATALOGUE, type FailureCode, tellsOf } from '../capture/errors.ts';
import { type Call, CapstanFailure, sender } from '../client/send.ts';
import { serviceUrl } from '../client/service-url.ts';

/** A service's HTTP API, with the API key of the client that is served. */
export interface Api {
  /** Sends a request. Rejects with an `ApiFailure` unless it succeeds. */
  send(path: string, options?: ApiRequest): Promise<Response>;
  /** Sends a request and returns the `data` of its answer. */
  read<T>(data: z.ZodType<T>, path: string, options?: ApiRequest): Promise<T>;
  /** Returns the URL of a path for the client; `''` when it has none. */
  link(path: string): string;
}

export interface ApiRequest {
  /** @default POST with a body, GET without */
  readonly method?: NonNullable<Call['method']>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** A request that failed. Its message names the code and the way out, and holds no text of a page. */
export class ApiFailure extends Error {
  readonly code: string;

  /** `retryAfter`: seconds after which the service suggests to try again. */
  constructor(code: string, about: string, retryAfter?: number) {
    const known = Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as FailureCode] : undefined;
    const later = retryAfter === undefined ? '' : `Try again after ${retryAfter} s.`;
    super([`${code}:`, asSentence(about || known?.text), helpOf(known?.help), later].filter((part) => part).join(' '));
    this.name = 'ApiFailure';
    this.code = code;
  }
}

function asSentence(text = ''): string {
  return /[\w)"'`]$/.test(text) ? `${text}.` : text;
}

/** Returns the sentences of an error's help that are not about fields of the HTTP answer. */
function helpOf(help = ''): string {
  return help
    .split(/(?<=\.) /)
    .filter((sentence) => !/`(error|data\.problems|download|Retry-After)`/.test(sentence))
    .join(' ');
}

/**
 * `linkOrigin`: where the client reaches the service, when that is another address; null when it cannot, and gets the
 * URIs of resources in place of URLs.
 */
export function apiAt(origin: string, key: string | undefined, linkOrigin: string | null = origin): Api {
  const ask = sender({ baseUrl: origin, ...(key !== undefined && { apiKey: key }) });
  const send: Api['send'] = (path, { body, method = body === undefined ? 'GET' : 'POST', signal } = {}) =>
    ask(path, {
      method,
      headers: { Accept: 'application/json;q=1, */*;q=0.5' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    }).catch((error: unknown) => {
      throw error instanceof CapstanFailure ? failureOf(error) : error;
    });
  return {
    send,
    read: async (data, path, options) => z.object({ data }).parse(await (await send(path, options)).json()).data,
    link: (path) => {
      if (linkOrigin === null) return resourceOf(path);
      return path === '' ? '' : serviceUrl(linkOrigin, path).href;
    },
  };
}

/** The resource of a stored file; `''` for a path that has none. */
function resourceOf(path: string): string {
  const [, id, view = 'image'] = /^\/screenshot\/(\d+)(?:\?view=(\w+))?$/.exec(path) ?? [];
  return id === undefined ? '' : `capstan://captures/${id}/${view}`;
}

function failureOf({ code, status, message, retryAfter }: CapstanFailure): ApiFailure {
  if (code === 'network') return new ApiFailure('unreachable', `${message} Start it, or correct --server.`);
  // A forbidden target may come from a redirect.
  const isOwn = code === 'unknown' || (tellsOf('request', status) && code !== 'target_forbidden');
  return new ApiFailure(code, isOwn ? message : '', retryAfter);
}
