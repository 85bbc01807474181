import type { HttpContext } from '../state.ts';

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The last item when another page follows, otherwise undefined. */
  readonly continueAfter: T | undefined;
}

/** Cuts a page of `limit` items from a list that was queried for one more. */
export function cutPage<T>(found: readonly T[], limit: number): Page<T> {
  const items = found.slice(0, limit);
  return { items, continueAfter: found.length > limit ? items.at(-1) : undefined };
}

/**
 * Sets `Link` to the next page: the URL of this request with another cursor. It is relative, because only a reverse
 * proxy knows the public host.
 */
export function linkNext(ctx: HttpContext, cursor: string): void {
  const query = new URLSearchParams(ctx.querystring);
  query.set('cursor', cursor);
  ctx.set('Link', `<${ctx.path}?${query}>; rel="next"`);
}
