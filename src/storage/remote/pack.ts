import { randomUUID } from 'node:crypto';
import { type ArtifactKind, artifactFile } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { sha256 } from '../files/record-file.ts';
import type { CapturedFiles } from '../ports/artifact-store.ts';
import { filesIn } from '../records/captured-files.ts';
import { fileKey } from './keys.ts';

/*
 * The object `capture`: a line of JSON (`Head`), then the packed files, one after another; the last one is the record. So
 * most captures cost two writes, that of their image included, and appear whole.
 */

/** Maximum size of a packed file; a longer one, and the image, is an object of its own. */
const MAX_PACKED_BYTES = 1024 * 1024;
/** Maximum size of the record and the packed files of a capture together. A document of MongoDB takes 16 MiB. */
const MAX_TOGETHER_BYTES = 8 * 1024 * 1024;

/** A file of a capture. */
interface StoredFile {
  readonly kind: ArtifactKind | 'record';
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

/** A file that is an object of its own. */
interface LooseFile extends StoredFile {
  readonly kind: ArtifactKind;
  readonly key: string;
  readonly content: Uint8Array;
}

interface Head {
  readonly info: ScreenshotInfo;
  readonly files: readonly StoredFile[];
}

/** Packs a capture. `loose`: the files that are not packed; each packing gives them keys that were never used. */
export async function packed(
  info: ScreenshotInfo,
  record: StoredRecord,
  captured: CapturedFiles,
): Promise<{ readonly capture: Buffer; readonly loose: readonly LooseFile[] }> {
  const json = Buffer.from(JSON.stringify(record));
  const upload = randomUUID();
  const files: StoredFile[] = [];
  const loose: LooseFile[] = [];
  const contents: Uint8Array[] = [];
  let together = json.length;
  for (const [kind, given] of [...filesIn(captured), ['record', json] as const]) {
    const content = typeof given === 'string' ? Buffer.from(given) : given;
    const bytes = content.byteLength;
    const file = { bytes, sha256: kind === 'image' ? info.sha256 : await sha256(content) };
    const isSmall = kind !== 'image' && bytes <= MAX_PACKED_BYTES && together + bytes <= MAX_TOGETHER_BYTES;
    if (kind === 'record' || isSmall || bytes === 0) {
      files.push({ kind, ...file });
      contents.push(content);
      together += bytes;
    } else {
      const key = fileKey(info, upload, artifactFile(kind, info.format));
      files.push({ kind, ...file, key });
      loose.push({ kind, ...file, key, content });
    }
  }
  const head: Head = { info, files };
  return { capture: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents]), loose };
}

export interface Unpacked {
  readonly info: ScreenshotInfo;
  readonly files: readonly PlacedFile[];
  /** Bytes of the whole capture. */
  readonly bytes: number;
}

export interface PlacedFile extends StoredFile {
  /** Where a packed file begins. */
  readonly start: number;
}

/** Reads the head of an object; undefined when it ends later. Throws a `SyntaxError` when it is damaged. */
export function unpacked(beginning: Buffer): Unpacked | undefined {
  const end = beginning.indexOf('\n');
  if (end === -1) return undefined;
  const { info, files }: Head = JSON.parse(beginning.toString('utf8', 0, end));
  let next = end + 1;
  const placed = files.map((file) => {
    const start = next;
    if (file.key === undefined) next += file.bytes;
    return { ...file, start };
  });
  return { info, files: placed, bytes: files.reduce((sum, file) => sum + file.bytes, end + 1) };
}
