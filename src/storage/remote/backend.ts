import type { Readable } from 'node:stream';
import type { ArtifactKind, ArtifactStoreKind } from '../../capture/artifacts.ts';
import type { Marks } from '../../capture/marks.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import type { ByteSpan, OpenArtifact } from '../ports/artifact-store.ts';

/* What an artifact store outside of the data directory implements; `remote-store.ts` makes the store of it. */

/** A file of a capture. An empty one need not be stored. */
export interface RemoteFile {
  readonly kind: ArtifactKind;
  readonly bytes: number;
  /** In hex, where the store keeps it. */
  readonly sha256?: string;
}

/** A file to be uploaded. */
export interface FileContent {
  readonly kind: ArtifactKind;
  /** Name that identifies the file to people who inspect the store. */
  readonly name: string;
  readonly content: Uint8Array;
}

export interface NewCapture<F extends RemoteFile> {
  readonly info: ScreenshotInfo;
  /** The whole record as JSON. */
  readonly record: string;
  readonly files: readonly F[];
}

export interface FoundCapture<F extends RemoteFile> extends Pick<NewCapture<F>, 'info' | 'files'> {
  /** Bytes of the files and of the record. */
  readonly bytes: number;
}

export interface Backend<F extends RemoteFile> {
  /** The name of the store in the records of its captures. */
  readonly name: ArtifactStoreKind;
  /** Runs work of the methods below. Rejects with the code for a store that cannot be reached. */
  ask<T>(work: () => Promise<T>): Promise<T>;
  /** Writes a file that no capture names yet. `upload`: the capture, and a name for all files of this upload. */
  upload(file: FileContent, upload: Upload): Promise<F>;
  /** Removes files that no capture will ever name. */
  discard(files: readonly F[]): Promise<void>;
  /** Makes a capture appear whole; resolves with its bytes, or with undefined when there is one with this id. */
  insert(capture: NewCapture<F>): Promise<number | undefined>;
  find(id: number): Promise<FoundCapture<F> | undefined>;
  /** Returns the record as JSON. */
  record(id: number): Promise<string | undefined>;
  /** Opens a file that has bytes; resolves with undefined when a part of it is gone. */
  open(file: F, capture: FoundCapture<F>): Promise<((span: ByteSpan) => Readable) | undefined>;
  /** See `OpenArtifact`. */
  location?(file: F): OpenArtifact['location'];
  list(limit: number, before: number): Promise<readonly ScreenshotInfo[]>;
  /** Replaces the marks in the record; resolves with the bytes that this adds. */
  mark(id: number, marks: Marks): Promise<number>;
  /** `after`: ids above this one. */
  oldest(key?: string | null, after?: number): AsyncIterable<number>;
  /** Removes captures at once, and their files when readers had time to finish. Resolves with the bytes of each. */
  remove(ids: readonly number[]): Promise<readonly number[]>;
  /** Adds up the bytes of each API key, with pauses. */
  sums(signal: AbortSignal | undefined): Promise<ReadonlyMap<string | null, number>>;
}

export interface Upload {
  readonly info: Pick<ScreenshotInfo, 'id' | 'format' | 'sha256' | 'api_key_name'>;
  readonly name: string;
}
