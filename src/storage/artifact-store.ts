import type { ReadStream } from 'node:fs';
import type { Result, ScreenshotInfo } from '../capture/domain.ts';

export type ArtifactKind = 'image' | 'html';

/** One stored file, opened: reading it is safe even if the capture is deleted meanwhile. */
export interface OpenArtifact {
  readonly info: ScreenshotInfo;
  /** Size of this file in bytes. */
  readonly bytes: number;
  /** A stream over the bytes from `start` to `end`, both included; the whole file without them. Closes the file. */
  stream(range?: { readonly start: number; readonly end: number }): ReadStream;
  /** To be called when `stream` is not. */
  close(): Promise<void>;
}

/** What was removed. */
export interface RemovedFiles {
  /** Of how many captures. */
  readonly captures: number;
  readonly bytes: number;
}

/** Screenshots and HTML copies on disk. A capture's files appear all at once or not at all, and go so. */
export interface ArtifactStore {
  /** Writes and syncs the files of a capture. Resolves when they would survive a crash. */
  put(result: Result, image: Uint8Array, html: string): Promise<ScreenshotInfo>;
  info(id: number): Promise<ScreenshotInfo | undefined>;
  open(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined>;
  /** At most `limit` captures with an id below `before`, newest (greatest id) first. */
  list(limit: number, before?: number): Promise<readonly ScreenshotInfo[]>;
  /** Ids of all captures, smallest and so oldest first; read from the disk only as far as it is asked to. */
  oldest(): AsyncIterable<number>;
  /** Bytes of the files of one capture, 0 when there is none. */
  sizeOf(id: number): Promise<number>;
  /** Removes the files of captures; those that are not there are no error. Whoever has one open can read it on. */
  remove(ids: readonly number[]): Promise<RemovedFiles>;
  /** Bytes of all files: as of the last `measure`, and what this process has put and removed since. Null before it. */
  readonly bytes: number | null;
  /** Counts the bytes, those of other processes too, slowly enough not to be in anybody's way. */
  measure(signal?: AbortSignal): Promise<number>;
}
