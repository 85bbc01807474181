import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import { damagedRecord, nullIfDamaged } from '../failures/store-errors.ts';
import { asDetailed } from '../records/record.ts';
import type { Backend } from './backend.ts';
import { CAPTURES, folderOf, keyOf, partsOf } from './keys.ts';
import { type Unpacked, unpacked } from './pack.ts';

/** Bytes that are read to find the head of a capture, and those that are read where it is longer. */
const HEAD_BYTES = [8 * 1024, 4 * 1024 * 1024];
const MAX_MARKS_BYTES = 1024 * 1024;

export interface FoundCapture extends Unpacked {
  /** The beginning of the object `capture`. */
  readonly content: Buffer;
  /** Bytes of the object `capture`. */
  readonly objectBytes: number;
  /** Bytes of the whole capture. */
  readonly bytes: number;
}

/** Finds a capture; undefined when there is none, whatever a listing says. */
export async function findCapture(backend: Backend, id: number): Promise<FoundCapture | undefined> {
  for (const read of HEAD_BYTES) {
    const found = await backend.get(keyOf(id, 'capture'), { start: 0, end: read - 1 });
    if (found === undefined) return undefined;
    const head = headOf(found.content, id);
    if (head !== undefined) {
      const { content, bytes: objectBytes } = found;
      const bytes = head.files.reduce((sum, file) => sum + (file.key === undefined ? 0 : file.bytes), objectBytes);
      return { ...head, content, objectBytes, bytes };
    }
  }
  throw damagedRecord(id);
}

function headOf(content: Buffer, id: number): Unpacked | undefined {
  try {
    return unpacked(content);
  } catch (error) {
    throw damagedRecord(id, error);
  }
}

/** Reads bytes of the object `capture`; undefined when it is gone. */
export async function packedBytes(
  backend: Backend,
  { info, content, objectBytes }: FoundCapture,
  start: number,
  bytes = objectBytes - start,
): Promise<Buffer | undefined> {
  const end = start + bytes;
  if (end <= content.length || bytes === 0) return content.subarray(start, end);
  const rest = await backend.get(keyOf(info.id, 'capture'), { start, end: end - 1 });
  if (rest !== undefined && rest.content.length !== bytes) throw damagedRecord(info.id);
  return rest?.content;
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
  const json = found && (await packedBytes(backend, found, found.recordStart));
  if (found === undefined || json === undefined) return undefined;
  try {
    const { evidence, ...record } = JSON.parse(json.toString());
    const later = marks && JSON.parse(marks.content.toString());
    return { ...found, record: asDetailed({ ...record, ...later }, evidence) };
  } catch (error) {
    throw damagedRecord(id, error);
  }
}

/** Finds the records that cannot be read, and the files that are gone or have another size than their capture says. */
export async function* damagedParts(
  backend: Backend,
): AsyncGenerator<{ readonly id: number; readonly part: ArtifactKind | 'record' }> {
  for await (const { id } of listedCaptures(backend)) {
    const found = await wholeCapture(backend, id).catch(nullIfDamaged);
    if (found === null) yield { id, part: 'record' };
    for (const { key, kind, bytes } of found?.files ?? []) {
      if (key !== undefined && (await backend.size(key)) !== bytes) yield { id, part: kind };
    }
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

/** Iterates over what a listing has of each id above one, smallest first. */
export async function* listedIds(backend: Backend, after?: number): AsyncGenerator<ListedCapture> {
  let last: ListedCapture | undefined;
  // Above all keys of that id.
  const above = after === undefined ? undefined : `${folderOf(after)}~`;
  for await (const { key, bytes, ageMs } of backend.list(CAPTURES, above)) {
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

/** Iterates over the captures that a listing has. */
export async function* listedCaptures(backend: Backend, after?: number): AsyncGenerator<ListedCapture> {
  for await (const one of listedIds(backend, after)) if (one.isCapture) yield one;
}
