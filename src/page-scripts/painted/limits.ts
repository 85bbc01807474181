/** Bounds of a search for painted text. */
export interface PaintedLimits {
  /** Maximum number of nodes, of characters of painted text, and of characters of text that is not painted. */
  readonly nodes: number;
  readonly characters: number;
  readonly hidden: number;
  /** Time limit in milliseconds. */
  readonly ms: number;
}

/** Bounds of an output that is made of painted text. */
export interface ReadingLimits extends PaintedLimits {
  /** Maximum number of frames of other origins that a document asks. */
  readonly frames: number;
}
