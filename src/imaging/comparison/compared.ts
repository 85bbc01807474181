import type { Ignore, Place, VisualDifference, WordDifference } from '../../capture/comparison/comparison.ts';
import type { ReadableFile } from '../../storage/ports/artifact-store.ts';

/** The stored files of two captures, and how the thread compares them. */
export interface Compared {
  /** Null when they are not compared. An image that is both is read once. */
  readonly images: Pair<StoredImage> | null;
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
export interface Task extends Omit<Compared, 'images'> {
  /** Large files are named by their paths. */
  readonly images: Pair<File | string> | null;
  /** Paths of the files that the thread may create; null when there is no directory for them. */
  readonly scratch: ScratchFiles | null;
}

/** Files for large images that are decoded, and for their drawing. */
export interface ScratchFiles {
  readonly decoded: Pair<string>;
  readonly drawing: string;
}

export type File = Uint8Array<ArrayBuffer>;

/** An image file, or where it is read from. */
export type StoredImage = File | ReadableFile;

/** Before and after. */
export type Pair<T> = readonly [T, T];

/** Differences that the thread finds. */
export interface ThreadDifference extends WordDifference {
  readonly visual: VisualDifference | null;
  /** The elements around the regions, if they were wanted; none unless both captures have element maps. */
  readonly around: readonly Place[];
}

export interface ThreadAnswer {
  /** `too_large`: an image has too many pixels to compare. */
  readonly found: ThreadDifference | 'too_large';
  /** Both images beside each other as PNG, or the path of that file, if it was wanted. */
  readonly drawing: File | string | null;
  /** Why a large image or its drawing is in memory; null when none is, undefined when no image is large. */
  readonly inMemory: string | null | undefined;
}
