import { signal } from '@preact/signals';
import { nextPage } from '../../src/client/answers.ts';
import { linesOf } from '../../src/client/lines.ts';
import { type Call, CapstanFailure, type Send, sender } from '../../src/client/send.ts';
import { PREFIX } from './address.ts';

export { CapstanFailure } from '../../src/client/send.ts';
export type { FieldProblem } from '../../src/client/types.ts';

export interface Answer<T> {
  readonly data: T;
  /** A note for people; mostly empty. */
  readonly message: string;
  /** Path of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

/** Whether the last request was refused because it had no valid session. The login is then shown. */
export const loginRequired = signal(false);

const sendToService = sender({ baseUrl: location.origin + PREFIX });

/** Sends a request to the service. Rejects with a `CapstanFailure` unless it succeeds; an abort is thrown as it is. */
export const send: Send = async (path, options) => {
  try {
    return await sendToService(path, options);
  } catch (error) {
    if (error instanceof CapstanFailure && error.status === 401 && path !== '/session') loginRequired.value = true;
    throw error;
  }
};

export interface CallOptions extends Omit<Call, 'body'> {
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** Calls the HTTP API and returns `data` of its answer. Rejects as `send` does. */
export async function call<T>(path: string, { body, ...options }: CallOptions = {}): Promise<Answer<T>> {
  const response = await send(path, { ...options, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const answer = await response.json().catch((error: unknown) => {
    if (options.signal?.aborted) throw error;
    return {};
  });
  const { message = '', data = answer } = answer;
  const query = nextPage(response);
  return { data, message, next: query === undefined ? undefined : path.replace(/\?.*|$/, () => query) };
}

/** Sends a body of lines, and reports each line of the answer as it comes. Rejects as `send` does. */
export async function callLines<T>(
  path: string,
  lines: readonly unknown[],
  signal: AbortSignal,
  report: (line: T) => void,
): Promise<void> {
  const headers = { 'Content-Type': 'application/x-ndjson', Accept: 'application/x-ndjson' };
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const response = await send(path, { method: 'POST', headers, body, signal });
  for await (const text of linesOf(response, signal)) if (text !== '') report(JSON.parse(text));
}

type QueryValue = string | number | undefined;

/** Returns a query string with `?`, without empty values; `''` for none. A list repeats its name. */
export function queryOf(values: Readonly<Record<string, QueryValue | readonly QueryValue[]>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const each of [value].flat()) if (each !== undefined && each !== '') query.append(name, String(each));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
