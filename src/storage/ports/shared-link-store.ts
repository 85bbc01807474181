import type { SharedView } from '../../capture/shared-link.ts';
import type { Amount } from '../../capture/stored-limits.ts';

/*
 * The port to shared links. A link that is not stored is refused although its signature is valid: so it can be revoked.
 */

export interface SharedLink {
  readonly id: string;
  /** Name of the API key that shared it; null without a named key. */
  readonly apiKeyName: string | null;
  readonly capture: number;
  /** The capture that it is compared with. */
  readonly other: number | null;
  readonly view: SharedView;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface SharedLinksWanted {
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
  add(link: SharedLink, isShared: boolean, max?: Amount): Promise<void>;
  /** Returns a link that has not expired. */
  get(id: string, now: number): Promise<SharedLink | undefined>;
  /** Returns links that have not expired, newest first. */
  list(wanted: SharedLinksWanted): Promise<readonly SharedLink[]>;
  /** Removes links; of one API key, if it is given. Returns how many existed. */
  remove(ids: readonly string[], ofKey?: string): Promise<number>;
}
