import { credentialsOf, serviceUrl } from './service-url.ts';
import type { FailureCode, FieldProblem } from './types.ts';

/** A request that failed: the service refused it, or cannot be reached (`code` is `network`). */
export class CapstanFailure extends Error {
  readonly code: FailureCode | 'network' | 'unknown';
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly problems: readonly FieldProblem[];
  /** Seconds after which the service suggests to try again. */
  readonly retryAfter: number | undefined;
  /** Id of the failed capture's record, when there is one. */
  readonly recordId: number | undefined;

  constructor(
    message: string,
    facts: {
      readonly code: CapstanFailure['code'];
      readonly status: number;
      readonly problems?: readonly FieldProblem[] | undefined;
      readonly retryAfter?: number | undefined;
      readonly recordId?: number | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.name = 'CapstanFailure';
    this.code = facts.code;
    this.status = facts.status;
    this.problems = facts.problems ?? [];
    this.retryAfter = facts.retryAfter;
    this.recordId = facts.recordId;
  }

  /**
   * Whether the same request may soon succeed: the service is busy, restarting, or out of reach. Outcomes of the page
   * (502, 504) are not temporary, and are kept for an idempotency key.
   */
  get isTemporary(): boolean {
    if (this.code === 'unknown') return [429, 502, 503, 504].includes(this.status);
    const isRestarting = this.status === 503 && this.code !== 'database_not_enabled';
    return this.status === 0 || this.retryAfter !== undefined || isRestarting;
  }
}

export interface ClientOptions {
  /** Where the service is, such as `http://127.0.0.1:8080` or, below a path, `https://example.com/capstan`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** How often a request is repeated after a temporary failure. @default 5 */
  readonly retries?: number;
  /** @default `fetch` of the runtime */
  readonly fetch?: typeof fetch;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

export type Send = (path: string, call?: Call) => Promise<Response>;

/** Maximum pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 10_000;
const FIRST_PAUSE_MS = 200;

/** Returns a function that sends a request once, and rejects with a `CapstanFailure` unless it succeeds. */
export function sender({ baseUrl, apiKey, fetch: send = fetch }: ClientOptions): Send {
  const authorization = authorizationOf(credentialsOf(baseUrl), apiKey);
  return async (path, { method = 'GET', headers, body, signal } = {}) => {
    const response = await send(serviceUrl(baseUrl, path), {
      method,
      headers: {
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...authorization,
        ...headers,
      },
      ...(body !== undefined && { body }),
      // A body that is read while it is sent.
      ...(body instanceof ReadableStream && { duplex: 'half' }),
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      throw signal?.aborted ? signal.reason : outOfReach(cause);
    });
    if (response.ok) return response;
    throw await failureOf(response);
  };
}

/** A URL with credentials is that of a proxy in front, which takes `Authorization` for itself. */
function authorizationOf(credentials: string | undefined, apiKey: string | undefined): Record<string, string> {
  if (credentials === undefined) return apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
  return { Authorization: credentials, ...(apiKey !== undefined && { 'X-API-Key': apiKey }) };
}

/** A broken connection. */
export function outOfReach(cause: unknown): CapstanFailure {
  return new CapstanFailure('The service cannot be reached.', { code: 'network', status: 0, cause });
}

/** Reads JSON of the service; something else, such as the page of a proxy, is a failure. */
export function readJson<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CapstanFailure('The answer is not that of Capstan: it is not JSON.', {
      code: 'unknown',
      status: 200,
      cause,
    });
  }
}

/** Repeats work after temporary failures, as often as `retries` says. */
export async function withRetries<T>(
  retries: number,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      // The answer to the first request was lost, but its work continues: waiting for it is no failed attempt.
      if (error instanceof CapstanFailure && error.code === 'idempotency_in_flight') attempt -= 1;
      else if (!(error instanceof CapstanFailure && error.isTemporary) || attempt >= retries) throw error;
      await pause(attempt, error, signal);
    }
  }
}

/** Waits before the next attempt: as long as the service says, else longer each time. A random part spreads clients. */
export async function pause(attempt: number, failure: unknown, signal: AbortSignal | undefined): Promise<void> {
  const asked = failure instanceof CapstanFailure ? failure.retryAfter : undefined;
  const ms = asked === undefined ? Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt) : asked * 1000;
  await wait(ms * (1 + Math.random() / 4), signal);
}

/** Waits; rejects with the reason of the signal when it is aborted. */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(waiting);
      reject(signal?.reason);
    };
    const waiting = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

interface FailureAnswer {
  readonly error?: string;
  readonly code?: FailureCode;
  readonly data?: { readonly problems?: readonly FieldProblem[]; readonly id?: number } | null;
}

async function failureOf(response: Response): Promise<CapstanFailure> {
  const answer = (await response.json().catch(() => ({}))) as FailureAnswer;
  const given = response.headers.get('Retry-After') ?? '';
  // Proxies may send a date instead of seconds.
  const after = /^\d+$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1000;
  return new CapstanFailure(answer.error ?? `The service answered ${response.status}.`, {
    code: answer.code ?? 'unknown',
    status: response.status,
    problems: answer.data?.problems,
    retryAfter: Number.isFinite(after) ? Math.max(0, after) : undefined,
    recordId: answer.data?.id,
  });
}
