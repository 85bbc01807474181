/**
 * The port to the store of thumbnails, which is a cache: anything in it may disappear and can be made again. A store
 * that cannot be read or written counts as empty, so its methods never reject.
 */
export interface ThumbnailStore {
  /**
   * Returns a thumbnail of a capture; undefined when it is not stored. `name` distinguishes the thumbnails of a
   * capture.
   */
  read(id: number, name: string): Promise<Buffer | undefined>;
  /** Stores a thumbnail, and removes others, least recently used first, when all together are too large. */
  write(id: number, name: string, image: Uint8Array): Promise<void>;
  /** Removes the thumbnails of a capture. */
  remove(id: number): Promise<void>;
}
