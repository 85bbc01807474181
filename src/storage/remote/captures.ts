import type { StoredRecord } from '../../capture/result/result.ts';
import { damagedRecord } from '../failures/store-errors.ts';
import { sha256 } from '../files/record-file.ts';
import { asDetailed } from '../records/record.ts';
import type { Backend } from './backend.ts';
import { CAPTURES, folderOf, keyOf, partsOf } from './keys.ts';
import { type PackedFile, type Unpacked, unpacked } from './pack.ts';

/** Bytes that are read to find the head of a capture, and those that are read where it is longer. */
const HEAD_BYTES = [8 * 1024, 4 * 1024 * 1024];
const MAX_MARKS_BYTES = 1024 * 1024;

export interface FoundCapture extends Unpacked {
  /** The beginning of the object `capture`. */
  readonly content: Buffer;
}

/** Finds a capture; undefined when there is none, whatever a listing says. */
export async function findCapture(backend: Backend, id: number): Promise<FoundCapture | undefined> {
  for (const read of HEAD_BYTES) {
    const content = await backend.get(keyOf(id, 'capture'), { start: 0, end: read - 1 });
    if (content === undefined) return undefined;
    const head = headOf(content, id);
    if (head !== undefined) return { ...head, content };
  }
  throw damagedRecord(id);
}

function headOf(content: Buffer, id: number) {
  try {
    return unpacked(content);
  } catch (error) {
    throw damagedRecord(id, error);
  }
}

/** Reads a packed file; undefined when its capture is gone. */
export async function packedFile(
  backend: Backend,
  { info, content, headBytes }: FoundCapture,
  { at, bytes }: PackedFile,
): Promise<Buffer | undefined> {
  const start = headBytes + at;
  const end = start + bytes;
  if (end <= content.length || bytes === 0) return content.subarray(start, end);
  const rest = await backend.get(keyOf(info.id, 'capture'), { start, end: end - 1 });
  if (rest !== undefined && rest.length !== bytes) throw damagedRecord(info.id);
  return rest;
}

interface WholeCapture extends FoundCapture {
  readonly record: StoredRecord;
}

/** Finds a capture with its record; undefined when there is none. */
export async function wholeCapture(backend: Backend, id: number): Promise<WholeCapture | undefined> {
  const [found, marks] = await Promise.all([
    findCapture(backend, id),
    backend.get(keyOf(id, 'marks'), { start: 0, end: MAX_MARKS_BYTES }),
  ]);
  const json = found && (await packedFile(backend, found, found.recordFile));
  if (found === undefined || json === undefined) return undefined;
  if ((await sha256(json)) !== found.recordFile.sha256) throw damagedRecord(id);
  try {
    const { evidence, ...record } = JSON.parse(json.toString());
    const later = marks && JSON.parse(marks.toString());
    return { ...found, record: asDetailed({ ...record, ...later }, evidence) };
  } catch (error) {
    throw damagedRecord(id, error);
  }
}

/** The objects of one id in a listing. */
interface ListedCapture {
  readonly id: number;
  /** Whether the object `capture` is listed. */
  isCapture: boolean;
  /** Objects that only a capture gives a meaning, with their age. */
  readonly others: { readonly key: string; readonly ageMs: number }[];
  bytes: number;
  apiKey: string | null;
}

/** Iterates over what a listing has of each id, smallest first. `prefix`: the beginning of its keys. */
export async function* listedIds(
  backend: Backend,
  { prefix = CAPTURES, after }: { readonly prefix?: string; readonly after?: number | undefined } = {},
): AsyncGenerator<ListedCapture> {
  let last: ListedCapture | undefined;
  // Above all keys of that id.
  const above = after === undefined ? undefined : `${folderOf(after)}~`;
  for await (const { key, bytes, ageMs } of backend.list(prefix, above)) {
    const parts = partsOf(key);
    if (parts === undefined) continue;
    if (parts.id !== last?.id) {
      if (last !== undefined) yield last;
      last = { id: parts.id, isCapture: false, others: [], bytes: 0, apiKey: null };
    }
    if (parts.part === 'capture') last.isCapture = true;
    else last.others.push({ key, ageMs });
    if (parts.part === 'file') last.apiKey = parts.apiKey;
    if (parts.part !== 'marks') last.bytes += bytes;
  }
  if (last !== undefined) yield last;
}

/** Iterates over the captures that a listing has, above an id. */
export async function* listedCaptures(backend: Backend, after?: number): AsyncGenerator<ListedCapture> {
  for await (const one of listedIds(backend, { after })) if (one.isCapture) yield one;
}

/** Returns what a listing has of an id; undefined when it has nothing. */
export async function listedCapture(backend: Backend, id: number): Promise<ListedCapture | undefined> {
  for await (const one of listedIds(backend, { prefix: folderOf(id) })) return one;
  return undefined;
}
