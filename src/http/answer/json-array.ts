/**
 * Generates the text of a JSON array from pages of elements, one chunk per page, between `head` and `tail`. `next`
 * reads the page that follows an element, once the chunks before that page were consumed; `sent` converts an element to
 * its form in the answer.
 */
export async function* jsonArray<T>(
  first: readonly T[],
  next: (last: T) => Promise<readonly T[]>,
  sent: (item: T) => unknown,
  around: { readonly head: string; readonly tail: string },
): AsyncGenerator<string, void, undefined> {
  let before = `${around.head}[`;
  let page = first;
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield before + page.map((item) => JSON.stringify(sent(item))).join(',');
    before = ',';
    page = await next(last);
  }
  yield `${first.length === 0 ? before : ''}]${around.tail}`;
}
