import { createHash } from 'node:crypto';
import type { ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import { isDamagedArtifact, nullIfDamaged } from '../failures/store-errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { expectedDigest } from '../records/captured-files.ts';
import type { Backend } from '../remote/backend.ts';
import { listedCaptures, wholeCapture } from '../remote/captures.ts';

/**
 * Reads all files of all captures; yields a line for each that cannot be read, or has another digest than its capture
 * says.
 */
export async function* wrongContents(artifacts: ArtifactStore): AsyncGenerator<string> {
  for await (const id of artifacts.oldest()) {
    const record = await artifacts.record(id).catch(() => undefined);
    for (const kind of record?.artifacts?.kinds ?? []) {
      const wrong = await whatIsWrong(artifacts, id, kind);
      if (wrong !== undefined) yield `capture ${id}: its ${kind} ${wrong}`;
    }
  }
}

/** Finds the records that cannot be read, and the files that are gone or have another size than their capture says. */
export async function* damagedParts(
  backend: Backend,
): AsyncGenerator<{ readonly id: number; readonly part: ArtifactKind | 'record' }> {
  for await (const { id } of listedCaptures(backend)) {
    const found = await wholeCapture(backend, id).catch(nullIfDamaged);
    if (found === null) yield { id, part: 'record' };
    for (const file of found?.files ?? []) {
      if ('key' in file && (await backend.size(file.key)) !== file.bytes) yield { id, part: file.kind };
    }
  }
}

/** Compares with the digest of each file where the store has it, and with that of the image everywhere. */
async function whatIsWrong(artifacts: ArtifactStore, id: number, kind: ArtifactKind): Promise<string | undefined> {
  try {
    const file = await artifacts.open(id, kind);
    if (file === undefined) return 'is missing';
    const digest = createHash('sha256');
    for await (const chunk of file.stream()) digest.update(chunk);
    const expected = expectedDigest(kind, file);
    return expected === undefined || expected === digest.digest('hex') ? undefined : 'is not what was stored (SHA-256)';
  } catch (error) {
    // Named by the check that finds incomplete files.
    if (isDamagedArtifact(error)) return undefined;
    throw error;
  }
}
