import type { FeedSource } from '../../capture/finding/feed.ts';
import type { SharedView } from '../../capture/finding/shared-link.ts';
import type { Amount } from '../../capture/stored-limits.ts';

/*
 * The port to shared links, of captures and of feeds. A link that is not stored is refused although its signature is
 * valid: so it can be revoked.
 */

interface Link {
  readonly id: string;
  /** Name of the API key that shared it; null without a named key. */
  readonly apiKeyName: string | null;
  /** First digits of the SHA-256 of the key that made it; null for a service without keys. */
  readonly fingerprint: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface SharedLink extends Link {
  readonly capture: number;
  /** The capture that it is compared with. */
  readonly other: number | null;
  readonly view: SharedView;
  /** Of messages, whose links are made again with each attempt: once removed, its id stays taken until it expires. */
  readonly isOfMessage?: boolean;
}

/** A link to a feed, which shows what its key may see when it is read. */
export interface FeedLink extends Link {
  readonly source: FeedSource;
}

/** Feeds have no end. The last second of the year 9999, of which every date format can write the time. */
export const NEVER_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

interface SharedLinksWanted {
  /** Undefined: those of all keys. */
  readonly ofKey: string | undefined;
  /** Only links to this capture. */
  readonly capture: number | undefined;
  readonly limit: number;
  /** The id of the last link of the page before. */
  readonly after: string | undefined;
  readonly now: number;
}

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface SharedLinkStore {
  /** Stores a link durably, and removes expired ones. Rejects with `too_many_shared_links` when there is no room. */
  add(link: SharedLink | FeedLink, keysShare: boolean, max?: Amount): Promise<void>;
  /** Returns a link to captures that has not expired. */
  get(id: string, now: number): Promise<SharedLink | undefined>;
  /** Returns links to captures that have not expired, newest first. */
  list(wanted: SharedLinksWanted): Promise<readonly SharedLink[]>;
  getFeed(id: string): Promise<FeedLink | undefined>;
  /** Returns feeds, newest first. */
  listFeeds(wanted: Pick<SharedLinksWanted, 'ofKey' | 'limit' | 'after'>): Promise<readonly FeedLink[]>;
  /** Removes links to captures; of one API key, if it is given. Returns how many existed. */
  remove(ids: readonly string[], ofKey?: string): Promise<number>;
  /** Removes a feed, as `remove` does. */
  removeFeed(id: string, ofKey?: string): Promise<number>;
}
