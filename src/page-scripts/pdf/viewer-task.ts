/** The document that the viewer page draws, and how. */
export interface ViewerTask {
  /** The title for a document that names none. */
  readonly name: string;
  /** Height to draw, in CSS pixels from the top; null draws what the window shows. */
  readonly drawnHeight: number | null;
  /** Size of the document in bytes. */
  readonly bytes: number;
}
