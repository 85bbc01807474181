/*
 * The port to the labels that captures of each API key have had, which are suggested while people type. Records are
 * what decides: a label without records is not suggested.
 */

/** Maximum number of labels of all keys that are looked through, the newest first. A label counts once for each key. */
export const MAX_LABELS_LOOKED_THROUGH = 5000;

/** Methods reject with `database_not_enabled` or `database_unavailable` when they cannot answer. */
export interface LabelStore {
  /** Notes labels of captures of an API key (null: without a named key). */
  note(apiKeyName: string | null, labels: readonly string[]): Promise<void>;
  /**
   * Returns labels that contain a text, whatever its case; of one key, or the newest of all. May return some without
   * records.
   */
  find(text: string, limit: number, ofKey?: string): Promise<readonly string[]>;
  /** Forgets labels without records. */
  forget(labels: readonly string[], ofKey?: string): Promise<void>;
}
