import { outOfReach, readJson, type Send } from './send.ts';
import type { CallOptions } from './types.ts';

/** Elements that are asked for at once. */
export const PAGE_LENGTH = 100;

export interface Answer<T> {
  readonly data: T;
  /** The query of the next page of a list, with its question mark; undefined on the last one. */
  readonly next: string | undefined;
}

/** Sends a request and reads its answer. Retries after temporary failures. */
export type Ask = <T>(...request: Parameters<Send>) => Promise<Answer<T>>;

/** Sends a body as JSON with an idempotency key, so that a retry does not repeat the work. */
export type Post = <T>(
  path: string,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) => Promise<Answer<T>>;

/** Reads an answer. When the connection breaks, rejects with the same error as a failed request. */
export async function readAnswer<T>(response: Response): Promise<Answer<T>> {
  const text = await response.text().catch((cause: unknown) => {
    throw outOfReach(cause);
  });
  const { data } = readJson<{ readonly data: T }>(text);
  return { data, next: nextPage(response) };
}

export async function dataOf<T>(answer: Promise<Answer<T>>): Promise<T> {
  return (await answer).data;
}

/** The query of the next page of a list; undefined on the last one. Its path may be that of a proxy. */
export function nextPage({ headers }: Response): string | undefined {
  return /<[^?>]*(\?[^>]+)>;\s*rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}

/** Yields the elements of a list; reads a page of them when it is needed. */
export async function* listOf<T>(
  ask: Ask,
  path: string,
  conditions: object,
  { signal }: CallOptions,
): AsyncGenerator<T, void, undefined> {
  const asked = new URLSearchParams({ limit: String(PAGE_LENGTH) });
  for (const [name, value] of Object.entries(conditions)) if (value !== undefined) asked.set(name, String(value));
  let next: string | undefined = `?${asked}`;
  while (next !== undefined) {
    const page: Answer<readonly T[]> = await ask(`${path}${next}`, { signal });
    next = page.next;
    yield* page.data;
  }
}
