import { signal } from '@preact/signals';

/** A failure as the API describes it, or a connection that broke (`code` is `network`). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problems: readonly FieldProblem[];
  /** Id of the failed capture's record, when there is one. */
  readonly recordId: number | undefined;

  constructor(message: string, facts: { status: number; code: string; data?: FailureData | undefined }) {
    super(message);
    this.name = 'ApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.problems = facts.data?.problems ?? [];
    this.recordId = facts.data?.id;
  }
}

export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

interface FailureData {
  readonly problems?: readonly FieldProblem[];
  readonly id?: number;
}

export interface Answer<T> {
  readonly data: T;
  /** Path of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/** Whether the last request was refused because it had no valid session. The login is then shown. */
export const loginRequired = signal(false);

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls the HTTP API and returns `data` of its answer.
 * @throws ApiError for a failure, and when the service cannot be reached. An abort is thrown as it is.
 */
export async function call<T>(
  path: string,
  { method = 'GET', body, headers, signal: abort }: CallOptions = {},
): Promise<Answer<T>> {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(abort === undefined ? {} : { signal: abort }),
  }).catch((error: unknown) => {
    if (abort?.aborted) throw error;
    throw new ApiError('The service cannot be reached.', { status: 0, code: 'network' });
  });
  const answer = await response.json().catch((error: unknown) => {
    if (abort?.aborted) throw error;
    return {};
  });
  if (response.ok) return { data: 'data' in answer ? answer.data : answer, next: nextOf(response) };
  if (response.status === 401 && path !== '/session') loginRequired.value = true;
  const { error = `The service answered ${response.status}.`, code = 'unknown', data } = answer;
  throw new ApiError(error, { status: response.status, code, data });
}

function nextOf({ headers }: Response): string | undefined {
  return /<([^>]+)>;\s*rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}

/** Returns a query string with `?`, without empty values; `''` for none. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== '') query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
