/**
 * The text of a JSON array whose elements come in pages, between what stands before and behind it, a chunk for each
 * page. `next` is asked for the page behind an element only when the chunks before it have been taken.
 */
export async function* jsonArray<T>(
  first: readonly T[],
  next: (last: T) => Promise<readonly T[]>,
  around: { readonly head: string; readonly tail: string },
): AsyncGenerator<string, void, undefined> {
  let before = `${around.head}[`;
  let page = first;
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield before + page.map((item) => JSON.stringify(item)).join(',');
    before = ',';
    page = await next(last);
  }
  yield `${first.length === 0 ? before : ''}]${around.tail}`;
}
