import type { Ignore, PictureDifference, WordDifference } from '../../capture/comparison.ts';

/** The stored files of two captures, and how the thread compares them. */
export interface Compared {
  readonly images: Pair<Uint8Array<ArrayBuffer>>;
  /** The outputs `text`; null when one of the captures has none. */
  readonly texts: Pair<string> | null;
  /** The outputs `links`; null when one of the captures has none. */
  readonly links: Pair<string> | null;
  readonly ignore: Ignore;
  /** Lines that are elsewhere in the other text do not differ. */
  readonly inAnyOrder: boolean;
}

/** Before and after. */
export type Pair<T> = readonly [T, T];

/** What the thread finds. */
export type ThreadDifference = PictureDifference & WordDifference;
