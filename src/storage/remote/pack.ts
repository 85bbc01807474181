import type { ArtifactKind } from '../../capture/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/screenshot-info.ts';

/*
 * The object `capture`: a line of JSON (`Head`), the packed files, one after another, then the record as JSON. So most
 * captures cost two writes, that of their image included, and appear whole.
 */

/** Maximum size of a packed file; a longer one, and the image, is an object of its own. */
export const PACKED_BYTES = 1024 * 1024;

/** A file of a capture. */
export interface StoredFile {
  readonly kind: ArtifactKind;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** Its key; its absence: the file is packed. */
  readonly key?: string | undefined;
}

export interface NewFile extends StoredFile {
  readonly content: Uint8Array;
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
