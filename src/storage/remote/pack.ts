import { randomUUID } from 'node:crypto';
import { ARTIFACTS, type ArtifactKind, artifactFile } from '../../capture/artifacts/artifacts.ts';
import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { checkedScreenshotInfo, sha256 } from '../files/record-file.ts';
import type { CapturedFiles } from '../ports/artifact-store.ts';
import { filesIn } from '../records/captured-files.ts';
import type { FileFacts } from './backend.ts';
import { fileKey } from './keys.ts';

/*
 * The object `capture`: a line of JSON (`Head`), then the packed files, one after another; the last one is the record. So
 * most captures cost two writes, that of their image included, and appear whole.
 */

/** Maximum size of a packed file; a longer one, and the image, is an object of its own. */
const MAX_PACKED_BYTES = 1024 * 1024;
/** Maximum size of the record and the packed files of a capture together. A document of MongoDB takes 16 MiB. */
const MAX_TOGETHER_BYTES = 8 * 1024 * 1024;

interface FileFields {
  readonly kind: ArtifactKind | 'record';
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

export interface PackedFile extends FileFields {
  /** Where the file begins, in bytes after the head. */
  readonly at: number;
}

/** A file that is an object of its own. */
interface LooseFile extends FileFields {
  readonly key: string;
}

type StoredFile = PackedFile | LooseFile;

/** The beginning of the object `capture`. */
export interface Head {
  readonly info: ScreenshotInfo;
  readonly files: readonly StoredFile[];
}

/** Keys of the files that are not packed. */
export function keysOf({ files }: Pick<Head, 'files'>): readonly string[] {
  return files.flatMap((file) => ('key' in file ? [file.key] : []));
}

/** A capture as its objects. `loose`: the files that are not packed, by keys that were never used. */
interface Packed {
  readonly capture: Buffer;
  readonly loose: readonly { readonly key: string; readonly content: Uint8Array; readonly facts: FileFacts }[];
}

export async function packed(info: ScreenshotInfo, record: StoredRecord, captured: CapturedFiles): Promise<Packed> {
  const json = Buffer.from(JSON.stringify(record));
  const upload = randomUUID();
  const files: StoredFile[] = [];
  const contents: Uint8Array[] = [];
  const loose: Packed['loose'][number][] = [];
  let at = 0;
  for (const [kind, given] of [...filesIn(captured), ['record', json] as const]) {
    const content = typeof given === 'string' ? Buffer.from(given) : given;
    const bytes = content.byteLength;
    const file = { kind, bytes, sha256: kind === 'image' ? info.sha256 : await sha256(content) };
    const isSmall = bytes <= MAX_PACKED_BYTES && json.length + at + bytes <= MAX_TOGETHER_BYTES;
    if (kind === 'record' || (kind !== 'image' && isSmall) || bytes === 0) {
      files.push({ ...file, at });
      contents.push(content);
      at += bytes;
    } else {
      const key = fileKey(info, upload, artifactFile(kind, info.format));
      files.push({ ...file, key });
      loose.push({ key, content, facts: { type: ARTIFACTS[kind].mediaType(info.format), sha256: file.sha256 } });
    }
  }
  const head: Head = { info, files };
  return { capture: Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...contents]), loose };
}

export interface Unpacked extends Head {
  readonly headBytes: number;
  readonly recordFile: PackedFile;
}

/** Reads the head of an object, and its size; undefined when it ends later. Throws when it is damaged. */
export function unpacked(beginning: Buffer): Unpacked | undefined {
  const headBytes = beginning.indexOf('\n') + 1;
  if (headBytes === 0) return undefined;
  const { info, files }: Head = JSON.parse(beginning.toString('utf8', 0, headBytes));
  const recordFile = files.at(-1);
  if (recordFile?.kind !== 'record' || !isPacked(recordFile)) throw new SyntaxError('the head names no record');
  if (!files.every((file) => isPacked(file) || 'key' in file)) throw new SyntaxError('a file has no place');
  return { info: checkedScreenshotInfo(info), files, recordFile, headBytes };
}

function isPacked(file: StoredFile): file is PackedFile {
  return 'at' in file;
}
