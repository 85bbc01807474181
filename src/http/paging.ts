import type { HttpContext } from './state.ts';

/** One page of a list, and whether another follows. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The last item when there is more behind it. */
  readonly continueAfter: T | undefined;
}

/** Makes a page of `limit` out of what was found when one more was asked for. */
export function cutPage<T>(found: readonly T[], limit: number): Page<T> {
  const items = found.slice(0, limit);
  return { items, continueAfter: found.length > limit ? items.at(-1) : undefined };
}

/**
 * Names the next page: this request's own address with another cursor, relative to the host, because a proxy in front
 * knows the host and this service does not.
 */
export function linkNext(ctx: HttpContext, cursor: string): void {
  const query = new URLSearchParams(ctx.querystring);
  query.set('cursor', cursor);
  ctx.set('Link', `<${ctx.path}?${query}>; rel="next"`);
}
