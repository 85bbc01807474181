import type { ArtifactKind } from '../../capture/artifacts.ts';
import type { Marks } from '../../capture/marks.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import type { NewCapture, RemoteFile } from '../remote/backend.ts';

/*
 * The object `capture`: a line of JSON (`Head`), the files other than the image, one after another, then the record as
 * JSON. So a capture costs two requests to store, and appears whole; and nothing that is being read moves when the marks
 * in the record change.
 */

/** A file of a capture, as the head names it. */
export interface S3File extends RemoteFile {
  /** In hex. */
  readonly sha256: string;
  /** The key below the prefix of an image; its absence: the file is in the object `capture`. */
  readonly key?: string | undefined;
  /** Where the file begins in the object `capture`. */
  readonly start?: number | undefined;
  /** The bytes of a file that is in the object `capture`, until it is inserted. */
  readonly content?: Uint8Array;
  /** `performance.now()` when its upload began. */
  readonly begunAt?: number;
}

interface Head {
  readonly info: ScreenshotInfo;
  readonly files: readonly {
    readonly kind: ArtifactKind;
    readonly bytes: number;
    readonly sha256: string;
    readonly key?: string;
  }[];
}

export function packed({ info, record, files }: NewCapture<S3File>): Buffer {
  const named = files.map(({ kind, bytes, sha256, key }) => ({ kind, bytes, sha256, ...(key && { key }) }));
  const head: Head = { info, files: named };
  const contents = files.flatMap(({ content }) => (content === undefined ? [] : [content]));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents, Buffer.from(record)]);
}

/** Returns the object of the same capture with other marks in its record; undefined when its head cannot be read. */
export function withMarks(object: Buffer, marks: Marks): Buffer | undefined {
  const start = unpacked(object)?.recordStart;
  if (start === undefined) return undefined;
  const record = { ...JSON.parse(object.toString('utf8', start)), ...marks };
  return Buffer.concat([object.subarray(0, start), Buffer.from(JSON.stringify(record))]);
}

export interface Unpacked {
  readonly info: ScreenshotInfo;
  readonly files: readonly S3File[];
  /** Where the record begins; it ends with the object. */
  readonly recordStart: number;
}

/** Reads the head of an object; undefined when it ends later. */
export function unpacked(beginning: Buffer): Unpacked | undefined {
  const end = beginning.indexOf('\n');
  if (end === -1) return undefined;
  const { info, files }: Head = JSON.parse(beginning.toString('utf8', 0, end));
  let start = end + 1;
  const placed = files.map((file) => {
    if (file.key !== undefined) return file;
    const own = { ...file, start };
    start += file.bytes;
    return own;
  });
  return { info, files: placed, recordStart: start };
}
