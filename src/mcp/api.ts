import { z } from 'zod';
import { CATALOGUE, type FailureCode } from '../capture/errors.ts';

/** A service's HTTP API, with the API key of the client that is served. */
export interface Api {
  /** Sends a request. Rejects with an `ApiFailure` unless it succeeds. */
  send(path: string, options?: ApiRequest): Promise<Response>;
  /** Returns the URL of a path for the client; `''` when it has none. */
  link(path: string): string;
}

export interface ApiRequest {
  /** Sent as JSON by POST; without it, the request is a GET. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const Failure = z.object({ code: z.string(), error: z.string().nullish() });

/** Statuses whose error texts are about the request alone, except that a redirect may have chosen a forbidden target. */
const ABOUT_THE_REQUEST = new Set([400, 401, 403, 404, 406, 413, 429]);

/** A request that failed. Its message names the code and the way out, and holds no text of a page. */
export class ApiFailure extends Error {
  readonly code: string;

  constructor(code: string, about: string) {
    const known = Object.hasOwn(CATALOGUE, code) ? CATALOGUE[code as FailureCode] : undefined;
    super([`${code}:`, about || known?.text, known?.help].filter((part) => part).join(' '));
    this.name = 'ApiFailure';
    this.code = code;
  }
}

/**
 * `linkOrigin`: where the client reaches the service, when that is another address; null when it cannot, and gets the URIs
 * of resources in place of URLs.
 */
export function apiAt(origin: string, key: string | undefined, linkOrigin: string | null = origin): Api {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    async send(path, { body, signal } = {}) {
      const response = await fetch(new URL(path, origin), {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json;q=1, */*;q=0.5',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...authorization,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      }).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        throw new ApiFailure('unreachable', 'The service cannot be reached.');
      });
      if (response.ok) return response;
      throw failureOf(response.status, await response.json().catch(() => null));
    },
    link: (path) => {
      if (linkOrigin === null) return resourceOf(path);
      return path === '' ? '' : new URL(path, linkOrigin).href;
    },
  };
}

/** The resource of a stored file; `''` for a path that has none. */
function resourceOf(path: string): string {
  const [, id, view = 'image'] = /^\/screenshot\/(\d+)(?:\?view=(\w+))?$/.exec(path) ?? [];
  return id === undefined ? '' : `capstan://captures/${id}/${view}`;
}

function failureOf(status: number, answer: unknown): ApiFailure {
  const { data } = Failure.safeParse(answer);
  if (data === undefined) return new ApiFailure('unknown', `The service answered ${status}.`);
  const isOwn = ABOUT_THE_REQUEST.has(status) && data.code !== 'target_forbidden';
  return new ApiFailure(data.code, isOwn ? (data.error ?? '') : '');
}
