import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';

/* A page of a feed, before it is written as Atom or as JSON Feed. Texts are plain, and may be those of a page. */

/** Maximum number of entries in a page of a feed. */
export const MAX_ENTRIES = 50;

export interface FeedPage {
  readonly id: string;
  readonly title: string;
  /** Its own URL, and that of its next page. */
  readonly self: string;
  readonly next: string | undefined;
  /** The web interface's view of what the feed is of. */
  readonly home: string;
  /** When the newest entry was made, in ISO 8601; without one, when the feed was. */
  readonly updated: string;
  readonly entries: readonly ShownEntry[];
}

export interface FeedEntry {
  /** A URN of the ids that are stored: the same in each feed, format and node. */
  readonly id: string;
  /** When it happened, in ISO 8601. */
  readonly at: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** The page that was captured. */
  readonly url: string;
  readonly labels: readonly string[];
  readonly capture: number | null;
  /** An earlier capture that it is compared with. */
  readonly before: number | null;
  /** Position of the entries after it, for the cursor. */
  readonly place: string;
}

/** An entry with its links, which need no key. */
export interface ShownEntry extends FeedEntry {
  /** The page about its capture, or about the comparison; undefined without a capture. */
  readonly page: string | undefined;
  /** The image of its capture. */
  readonly screenshot: { readonly url: string; readonly info: ScreenshotInfo } | undefined;
  /** Both images beside each other, with what differs marked. */
  readonly difference: string | undefined;
}
