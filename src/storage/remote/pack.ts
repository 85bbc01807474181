import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';

/*
 * The object `capture`: a line of JSON (`Head`), the packed files, one after another, then the record as JSON. So most
 * captures cost two writes, that of their image included, and appear whole.
 */

/** Maximum size of a packed file; a longer one, and the image, is an object of its own. */
const MAX_PACKED_BYTES = 1024 * 1024;
/** Maximum size of the record and the packed files of a capture together. A document of MongoDB takes 16 MiB. */
const MAX_TOGETHER_BYTES = 8 * 1024 * 1024;

/** A file of a capture. */
export interface StoredFile {
  readonly kind: ArtifactKind;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** Its key; its absence: the file is packed. */
  readonly key?: string | undefined;
}

/** Keys of the files that are not packed. */
export function keysOf(files: readonly StoredFile[]): readonly string[] {
  return files.flatMap(({ key }) => (key === undefined ? [] : [key]));
}

export interface NewFile extends StoredFile {
  readonly content: Uint8Array;
}

/** Returns a function that tells of the next file of a capture whether it is packed. */
export function createPacking(record: string): (kind: ArtifactKind, bytes: number) => boolean {
  let total = Buffer.byteLength(record);
  return (kind, bytes) => {
    const fits = kind !== 'image' && bytes <= MAX_PACKED_BYTES && total + bytes <= MAX_TOGETHER_BYTES;
    if (fits) total += bytes;
    return fits || bytes === 0;
  };
}

interface Head {
  readonly info: ScreenshotInfo;
  readonly files: readonly StoredFile[];
}

export function packed(info: ScreenshotInfo, files: readonly NewFile[], record: string): Buffer {
  const head: Head = { info, files: files.map(({ content: _, ...file }) => file) };
  const contents = files.flatMap(({ key, content }) => (key === undefined ? [content] : []));
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents, Buffer.from(record)]);
}

export interface Unpacked {
  readonly info: ScreenshotInfo;
  /** `start`: where a packed file begins. */
  readonly files: readonly (StoredFile & { readonly start: number })[];
  /** Where the record begins; it ends with the object. */
  readonly recordStart: number;
}

/** Reads the head of an object; undefined when it ends later. Throws a `SyntaxError` when it is damaged. */
export function unpacked(beginning: Buffer): Unpacked | undefined {
  const end = beginning.indexOf('\n');
  if (end === -1) return undefined;
  const { info, files }: Head = JSON.parse(beginning.toString('utf8', 0, end));
  let recordStart = end + 1;
  const placed = files.map((file) => {
    const start = recordStart;
    if (file.key === undefined) recordStart += file.bytes;
    return { ...file, start };
  });
  return { info, files: placed, recordStart };
}
