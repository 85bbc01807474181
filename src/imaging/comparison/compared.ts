import type { Ignore, PictureDifference, Place, WordDifference } from '../../capture/comparison/comparison.ts';

/** The stored files of two captures, and how the thread compares them. */
export interface Compared {
  /** Null when they are not compared. */
  readonly images: Pair<File> | null;
  /** The outputs `text`; null when one of the captures has none. */
  readonly texts: Pair<string> | null;
  /** The outputs `links`; null when one of the captures has none. */
  readonly links: Pair<string> | null;
  /** The element maps; null when one of the captures has none. */
  readonly maps: Pair<string> | null;
  /** Selectors of the elements whose changes are listed; null for all. */
  readonly onlyElements: readonly string[] | null;
  readonly ignore: Ignore;
  /** Lines that are elsewhere in the other text do not differ. */
  readonly inAnyOrder: boolean;
  /** Whether to draw the regions on the images. */
  readonly draws: boolean;
  /** Whether to find the elements around the regions. */
  readonly places: boolean;
}

/** A comparison as the thread receives it. */
export interface Task extends Compared {
  /** Files for large decoded images; null when there is no directory for them. */
  readonly decoded: Pair<string> | null;
}

export type File = Uint8Array<ArrayBuffer>;

/** Before and after. */
export type Pair<T> = readonly [T, T];

/** Differences that the thread finds. */
export interface ThreadDifference extends WordDifference {
  readonly picture: PictureDifference | null;
  /** The elements around the regions, if they were wanted; none unless both captures have element maps. */
  readonly around: readonly Place[];
  /** Both images beside each other as PNG, with the regions marked, if that was wanted. */
  readonly drawing: File | null;
}

export interface ThreadAnswer {
  /** `too_large`: an image has too many pixels to compare. */
  readonly found: ThreadDifference | 'too_large';
  /** Why a large image was decoded in memory; null when none was, undefined when no image is large. */
  readonly inMemory: string | null | undefined;
}
