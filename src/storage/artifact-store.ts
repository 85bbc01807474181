import type { Readable } from 'node:stream';
import type { ArtifactKind, DetailedResult, Result } from '../capture/result.ts';
import type { ScreenshotInfo } from '../capture/screenshot-info.ts';

/*
 * The port to where screenshots and HTML snapshots are stored. One folder implements it for files (`files/`); another
 * one (GridFS, S3) is a folder of its own and a line in `storage.ts`. The contract is `artifact-store.contract.ts`.
 */

export type { ArtifactKind };

/** What a browser returned for a page. */
export interface Picture {
  readonly image: Uint8Array;
  readonly html: string;
}

/** First and last byte, both included. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** One stored artifact, opened: reading it succeeds even if the capture is removed meanwhile. */
export interface OpenArtifact {
  readonly info: ScreenshotInfo;
  /** Size of this artifact in bytes. */
  readonly bytes: number;
  /** Reads the whole artifact or a part of it. The artifact is closed when the stream ends or is destroyed. */
  stream(span?: ByteSpan): Readable;
  /** Closes an artifact that is not streamed. Closing twice is no error. */
  close(): Promise<void>;
}

/** A capture that is written durably but not yet visible. */
export interface StagedCapture {
  readonly info: ScreenshotInfo;
  /** Makes the capture visible as a whole. Resolves when it would survive a crash. */
  publish(): Promise<void>;
  /** Removes the capture, published or not. */
  discard(): Promise<void>;
}

export interface RemovedArtifacts {
  /** Captures that were there. */
  readonly captures: number;
  readonly bytes: number;
}

/**
 * The artifacts of a capture appear all at once and disappear all at once. Writing rejects with a `CapstanError`:
 * `storage_full`, or `internal` with the cause; nothing half-written is left.
 */
export interface ArtifactStore {
  /** Names this store in the records of its captures; stays the same for the store's whole life. */
  id(): Promise<string>;
  /** Writes the artifacts of a capture, with all of its record beside them. Its id must not be in use. */
  stage(record: DetailedResult, picture: Picture): Promise<StagedCapture>;
  has(id: number): Promise<boolean>;
  info(id: number): Promise<ScreenshotInfo | undefined>;
  /** Reads the record that was staged; undefined where there is none, or an earlier version stored only a part of it. */
  record(id: number): Promise<DetailedResult | undefined>;
  open(id: number, kind: ArtifactKind): Promise<OpenArtifact | undefined>;
  /** Lists at most `limit` captures with an id below `before`, newest (greatest id) first. */
  list(limit: number, before?: number): Promise<readonly ScreenshotInfo[]>;
  /** Iterates over the ids of all captures, smallest and so oldest first; reads only as far as it is consumed. */
  oldest(): AsyncIterable<number>;
  /** Bytes of the artifacts of one capture, 0 when there is none. */
  sizeOf(id: number): Promise<number>;
  /** Removes captures; ids that are not there are no error. Open artifacts stay readable. */
  remove(ids: readonly number[]): Promise<RemovedArtifacts>;
  /** Bytes of all artifacts: the last `measure`, plus what this process has added and removed since. Null before it. */
  readonly bytes: number | null;
  /** Counts the bytes, including those of other processes, slowly enough not to slow captures down. */
  measure(signal?: AbortSignal): Promise<number>;
}

/** Stores the artifacts of a capture. */
export async function putCapture(
  store: ArtifactStore,
  record: Result | DetailedResult,
  picture: Picture,
): Promise<ScreenshotInfo> {
  const staged = await store.stage({ evidence: null, ...record }, picture);
  try {
    await staged.publish();
  } catch (error) {
    await staged.discard();
    throw error;
  }
  return staged.info;
}
