import { isDamagedArtifact } from '../failures/store-errors.ts';
import type { Backend } from './backend.ts';
import { findCapture } from './captures.ts';
import { folderOf, keyOf, partsOf } from './keys.ts';
import { keysOf } from './pack.ts';
import { noteRemoved } from './sweep.ts';

/** A capture as its removal needs it: its record and its marks have fixed keys, its files have not. */
interface Removable {
  readonly id: number;
  /** Keys of its files. */
  readonly files: readonly string[];
  /** Bytes of the whole capture. */
  readonly bytes: number;
}

/** Finds what the removal of a capture deletes; undefined when there is no capture. */
export async function findRemovable(backend: Backend, id: number): Promise<Removable | undefined> {
  try {
    const found = await findCapture(backend, id);
    return found && { id, files: keysOf(found.files), bytes: found.bytes };
  } catch (error) {
    if (!isDamagedArtifact(error)) throw error;
  }
  // The head that names the files cannot be read.
  const listed = (await Array.fromAsync(backend.list(folderOf(id)))).map((one) => ({ ...one, ...partsOf(one.key) }));
  return {
    id,
    files: listed.flatMap(({ key, part }) => (part === 'file' ? [key] : [])),
    bytes: listed.reduce((sum, { bytes, part }) => sum + (part === 'marks' ? 0 : bytes), 0),
  };
}

/** Removes captures; their files follow when their readers have had time to finish. */
export async function removeCaptures(
  backend: Backend,
  ids: readonly number[],
): Promise<{ readonly captures: number; readonly bytes: number }> {
  const found = (await Promise.all(ids.map((id) => findRemovable(backend, id)))).filter((one) => one !== undefined);
  if (found.length > 0) {
    await noteRemoved(
      backend,
      found.flatMap(({ files }) => files),
    );
    await backend.remove(found.flatMap(({ id }) => [keyOf(id, 'capture'), keyOf(id, 'marks')]));
  }
  return { captures: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}
