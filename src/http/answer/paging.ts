import { bytesText, STORED_LIMITS } from '../../capture/stored-limits.ts';
import { publicPath } from '../request/public-address.ts';
import type { HttpContext } from '../state.ts';

/** How the documentation says where a page of items that may be large ends. */
export const PAGE_END = `It ends with the item that reaches ${bytesText(STORED_LIMITS.page.bytes)}, or before.`;

/**
 * Cuts a page of `limit` items from a list that was queried for one more. When another page follows, sets `Link` to it:
 * the URL of this request with the cursor after the last item. It is relative, because only a reverse proxy knows the
 * public host.
 */
export function cutPage<T>(
  ctx: HttpContext,
  found: readonly T[],
  limit: number,
  cursorAfter: (last: T) => string,
): readonly T[] {
  const items = found.slice(0, limit);
  return linkedPage(ctx, { items, isCut: found.length > limit }, cursorAfter);
}

/** Like `cutPage`, for a page that its store has cut. */
export function linkedPage<T>(
  ctx: HttpContext,
  { items, isCut }: { readonly items: readonly T[]; readonly isCut: boolean },
  cursorAfter: (last: T) => string,
): readonly T[] {
  const last = items.at(-1);
  if (last !== undefined && isCut) {
    const query = new URLSearchParams(ctx.querystring);
    query.set('cursor', cursorAfter(last));
    ctx.set('Link', `<${publicPath(ctx, ctx.path)}?${query}>; rel="next"`);
  }
  return items;
}
