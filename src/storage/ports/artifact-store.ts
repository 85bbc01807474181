import type { Readable } from 'node:stream';
import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import type { Marks } from '../../capture/finding/marks.ts';
import type { StoredRecord } from '../../capture/result/result.ts';

/*
 * The port to the store of the files of captures (`ARTIFACT_KINDS`). `files/` implements it for a directory, `remote/`
 * with `gridfs/` for MongoDB and with `s3/` for an object store; another store needs a `Backend` in a folder of its own
 * and a row in `ARTIFACT_STORES`, after which the compiler asks how it is opened. Its contract is
 * `artifact-store.contract.ts`.
 */

/** The files of a capture, as returned by a browser: one of each kind that the capture has. */
export interface CapturedFiles extends Readonly<Partial<Record<ArtifactKind, ArtifactContent | null>>> {
  readonly image: Uint8Array;
  readonly html: ArtifactContent;
}

export type ArtifactContent = Uint8Array | string;

/** First and last byte, both included. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** An open file, which is either streamed or closed. */
export interface ReadableFile {
  /** Size in bytes. */
  readonly bytes: number;
  /** Closes the file when the stream ends or is destroyed. */
  stream(): Readable;
  /** Closes a file that is not streamed. Idempotent. */
  close(): Promise<void>;
}

/** An open artifact: it can be read even if its capture is removed meanwhile. */
export interface OpenArtifact extends ReadableFile {
  readonly info: ScreenshotInfo;
  /** SHA-256 in hex, where the store knows it. */
  readonly sha256?: string | undefined;
  /**
   * Returns a URL of the store from which anyone who has it can read the artifact for a while; undefined: there is
   * none.
   */
  readonly location?: ((named: { readonly type: string; readonly file: string }) => Promise<string>) | undefined;
  /** Reads the whole artifact or a range of it. */
  stream(span?: ByteSpan): Readable;
}

/** A capture that is written durably but not visible yet. */
export interface StagedCapture {
  readonly info: ScreenshotInfo;
  /** Makes the capture visible as a whole; see `ArtifactStore.put`. */
  publish(): Promise<boolean>;
  /** Removes the capture, published or not; a capture that was visible already stays. */
  discard(): Promise<void>;
}

export interface RemovedArtifacts {
  /** Number of captures that existed; failed ones are not counted. */
  readonly captures: number;
  readonly bytes: number;
}

/**
 * A store in which the artifacts of a capture appear and disappear together. Writing rejects with a `CapstanError`
 * that has a cause, and leaves nothing half-written: with `storage_full` or `storage_unavailable` when nothing can be
 * stored, else with `internal`. Every method of a store in a database rejects with `database_unavailable` while the
 * database is away, and of one in an object store with `artifacts_unavailable`.
 */
export interface ArtifactStore {
  /** Identifies this store in the records of its captures; constant for the store's whole life. */
  id(): Promise<string>;
  /**
   * Stores the artifacts of a capture together with its whole record, and makes the capture visible as a whole. Resolves
   * when it would survive a crash: with true, or with false when a capture with this id was visible already. That capture
   * then stays as it is. `sha256`: that of the image, where it is known.
   */
  put(record: StoredRecord, files: CapturedFiles, sha256?: string): Promise<boolean>;
  has(id: number): Promise<boolean>;
  /** Rejects with `artifact_pending` as `open` does. */
  info(id: number, how?: { readonly undelivered?: boolean }): Promise<ScreenshotInfo | undefined>;
  /** Reads the record of a capture, stored or failed; undefined when there is none. */
  record(id: number): Promise<StoredRecord | undefined>;
  /** Replaces the marks in the record that is kept with the files. Where there is none, marks have no effect. */
  mark(id: number, marks: Marks): Promise<void>;
  /**
   * Rejects with `artifact_pending` while the capture waits for delivery on the disk of this process, unless
   * `undelivered` is set, as it is by the process that has just made the capture. Rejects with `artifact_damaged` when
   * a part of the file is gone.
   */
  open(id: number, kind: ArtifactKind, how?: { readonly undelivered?: boolean }): Promise<OpenArtifact | undefined>;
  /** Lists at most `limit` captures with an id below `before`, newest (greatest id) first. */
  list(limit: number, before?: number): Promise<readonly ScreenshotInfo[]>;
  /**
   * Iterates over the ids of all captures, including failed ones whose record is kept, oldest (smallest) first; reads
   * only as far as it is consumed. `key`: those of one API key (null: of keys without a name) that `measure` has found.
   */
  oldest(key?: string | null): AsyncIterable<number>;
  /** The same for the ids above one. */
  oldestAfter(id: number): AsyncIterable<number>;
  /** Returns the bytes of a capture's artifacts, or of a failed capture's record; 0 when there are none. */
  sizeOf(id: number): Promise<number>;
  /** Removes captures and the records of failed ones; unknown ids are ignored. Open artifacts stay readable. */
  remove(ids: readonly number[]): Promise<RemovedArtifacts>;
  /**
   * Bytes of all artifacts: the result of the last `measure`, adjusted by what this process has added and removed
   * since. Null before the first `measure`.
   */
  readonly bytes: number | null;
  /** Counts the bytes, including those of other processes, slowly enough not to delay captures. */
  measure(signal?: AbortSignal): Promise<number>;
  /** Returns the bytes of each API key (null: of keys without a name) that the last `measure` has found. */
  shares(): ReadonlyMap<string | null, number>;
}

/** The store in a data directory, which also keeps the records of failed captures. */
export interface LocalStore extends ArtifactStore {
  /** Stores a test file and removes it again. Rejects as `stage` would. */
  probe(): Promise<void>;
  /** As `put`, in two steps. */
  stage(record: StoredRecord, files: CapturedFiles): Promise<StagedCapture>;
  /**
   * Writes the record of a capture without files. Resolves when it would survive a power failure; a record with this id
   * stays as it is. Rejects as `stage` does.
   */
  keepRecord(record: StoredRecord): Promise<void>;
  /**
   * As `keepRecord`, for a record that the database has. Not synced, because syncing costs more than writing: a power
   * failure may lose or empty the copies of the last seconds.
   */
  copyRecord(record: StoredRecord): Promise<void>;
  /** Removes copies of captures that another store has. Does not remove thumbnails or change `bytes`. */
  release(ids: readonly number[]): Promise<void>;
}
