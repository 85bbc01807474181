import type { ArtifactKind } from '../../capture/artifacts.ts';
import type { Marks } from '../../capture/marks.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';
import type { NewCapture, RemoteFile } from '../remote/backend.ts';

/*
 * The object `capture`: a line of JSON (`Head`), the record as JSON, then the files other than the image, one after
 * another. So a capture costs two requests to store, and appears whole.
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
  /** Bytes of the record. */
  readonly record: number;
  readonly files: readonly {
    readonly kind: ArtifactKind;
    readonly bytes: number;
    readonly sha256: string;
    readonly key?: string;
  }[];
}

export function packed({ info, record, files }: NewCapture<S3File>): Buffer {
  const text = Buffer.from(record);
  const named = files.map(({ kind, bytes, sha256, key }) => ({ kind, bytes, sha256, ...(key && { key }) }));
  const head: Head = { info, record: text.length, files: named };
  const contents = files.flatMap(({ content }) => (content === undefined ? [] : [content]));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), text, ...contents]);
}

/** Returns the object of the same capture with other marks in its record. */
export function withMarks(object: Buffer, marks: Marks): Buffer {
  const line = object.indexOf('\n');
  const head: Head = JSON.parse(object.toString('utf8', 0, line));
  const end = line + 1 + head.record;
  const record = Buffer.from(JSON.stringify({ ...JSON.parse(object.toString('utf8', line + 1, end)), ...marks }));
  const changed: Head = { ...head, record: record.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(changed)}\n`), record, object.subarray(end)]);
}

export interface Unpacked {
  readonly info: ScreenshotInfo;
  readonly files: readonly S3File[];
  /** Where the record begins and ends, the end included. */
  readonly record: { readonly start: number; readonly end: number };
}

/** Reads the head of an object; undefined when it ends later. */
export function unpacked(beginning: Buffer): Unpacked | undefined {
  const end = beginning.indexOf('\n');
  if (end === -1) return undefined;
  const { info, record, files }: Head = JSON.parse(beginning.toString('utf8', 0, end));
  let start = end + 1 + record;
  const placed = files.map((file) => {
    if (file.key !== undefined) return file;
    const own = { ...file, start };
    start += file.bytes;
    return own;
  });
  return { info, files: placed, record: { start: end + 1, end: end + record } };
}
