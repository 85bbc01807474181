import { linkOf } from '../../capture/finding/shared-urls.ts';
import { signedTarget } from '../../capture/finding/signed-link.ts';
import type { ServiceView, Shared } from '../../service/capture-service.ts';
import { type FeedLink, NEVER_MS } from '../../storage/ports/shared-link-store.ts';
import type { RouteContext } from '../route.ts';

/*
 * Feeds are shared links that do not end. The links of their entries are made from the link of the feed and the ids of
 * captures, so that they are not stored, and end with the feed.
 */

export interface OpenFeed {
  readonly link: FeedLink;
  /** The service as the key that made the feed sees it now. */
  readonly service: ServiceView;
  /** The key whose watches it may show; undefined: those of all. */
  readonly ofKey: string | undefined;
}

type Context = Pick<RouteContext, 'service' | 'viewOf'>;

/** Returns a feed; undefined when it was revoked, or when its key is not accepted any more. */
export async function openFeed({ service, viewOf }: Context, id: string): Promise<OpenFeed | undefined> {
  const link = await service.sharedLinks.getFeed(id);
  const view = link && viewOf(link);
  return view && { link, ...view };
}

/** Forms of a feed. Without one, it is the form that the client prefers. */
export const FEED_FORMS = ['atom', 'json'] as const;
export type FeedForm = (typeof FEED_FORMS)[number];

export const FEED_ID = /^feed-[0-9a-z]+-[0-9a-f]+$/;

/** Returns the path and query of a feed. */
export function feedTarget(id: string, signingKey: string, form?: FeedForm, cursor?: string): string {
  const page = cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`;
  return signedTarget(`/feeds/${id}${form === undefined ? '' : `.${form}`}${page}`, NEVER_MS / 1000, signingKey);
}

/** Returns the path and query of the page about a capture of a feed or about a comparison, or of an image of it. */
export function entryTarget(
  feed: string,
  { capture, before }: { readonly capture: number; readonly before: number | null },
  signingKey: string,
  part?: Parameters<typeof linkOf>[2],
): string {
  const id = before === null ? `${feed}.${capture}` : `${feed}.${before}.${capture}`;
  return linkOf({ id, expiresAt: NEVER_MS }, signingKey, part);
}

const ENTRY_ID = /^(feed-[^.]+)\.(\d+)(?:\.(\d+))?$/;

export function isOfFeed(id: string): boolean {
  return ENTRY_ID.test(id);
}

/** Returns the link of an entry of a feed, as `ServiceView.shared` does. */
export async function openEntry(context: Context, id: string): Promise<Shared | undefined> {
  const [, feed = '', first, second] = ENTRY_ID.exec(id) ?? [];
  const opened = await openFeed(context, feed);
  if (opened === undefined) return undefined;
  const { link, service } = opened;
  const { apiKeyName, fingerprint, createdAt, expiresAt } = link;
  const [capture, other] = [Number(first), second === undefined ? null : Number(second)];
  const ids = other === null ? [capture] : [capture, other];
  const records = await Promise.all(ids.map((each) => service.results.get(each)));
  if (records.includes(undefined)) return undefined;
  return { link: { id, apiKeyName, fingerprint, capture, other, view: 'page', createdAt, expiresAt }, service };
}
