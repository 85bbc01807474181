import type { Send } from './send.ts';
import type { CallOptions } from './types.ts';

/** Elements that are asked for at once. */
export const PAGE_LENGTH = 100;

/** Returns the data of an answer. */
export async function dataOf<T>(response: Response): Promise<T> {
  const { data } = (await response.json()) as { readonly data: T };
  return data;
}

/** The path of the next page of a list; undefined on the last one. */
export function nextPage({ headers }: Response): string | undefined {
  return /<([^>]+)>;\s*rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}

/** Yields the elements of a list; reads a page of them when it is needed. */
export async function* listOf<T>(
  send: Send,
  path: string,
  conditions: object,
  { signal }: CallOptions,
): AsyncGenerator<T, void, undefined> {
  let next: string | undefined = `${path}?${new URLSearchParams({ limit: String(PAGE_LENGTH), ...conditions })}`;
  while (next !== undefined) {
    const response: Response = await send(next, { signal });
    next = nextPage(response);
    yield* await dataOf<readonly T[]>(response);
  }
}
