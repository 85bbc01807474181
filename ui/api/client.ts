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

interface FailureAnswer {
  readonly error?: string;
  readonly code?: string;
  readonly data?: FailureData;
}

export interface Answer<T> {
  readonly data: T;
  /** A note for people; mostly empty. */
  readonly message: string;
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
  if (response.ok) {
    const { message = '', data = answer } = answer;
    return { data, message, next: nextOf(response) };
  }
  throw failureOf(path, response, answer);
}

/**
 * Sends a body of lines, and reports each line of the answer as it comes.
 * @throws ApiError as `call` does, and when the answer ends early.
 */
export async function callLines<T>(
  path: string,
  lines: readonly unknown[],
  signal: AbortSignal,
  report: (line: T) => void,
): Promise<void> {
  const headers = { 'Content-Type': 'application/x-ndjson', Accept: 'application/x-ndjson' };
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  try {
    const response = await fetch(path, { method: 'POST', headers, body, signal });
    if (!response.ok || response.body === null) throw failureOf(path, response, await response.json());
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const texts = (rest + part.value).split('\n');
      rest = texts.pop() ?? '';
      for (const text of texts) if (text !== '') report(JSON.parse(text));
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw new ApiError('The connection to the service broke.', { status: 0, code: 'network' });
  }
}

function failureOf(path: string, { status }: Response, answer: FailureAnswer): ApiError {
  if (status === 401 && path !== '/session') loginRequired.value = true;
  const { error = `The service answered ${status}.`, code = 'unknown', data } = answer;
  return new ApiError(error, { status, code, data });
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
