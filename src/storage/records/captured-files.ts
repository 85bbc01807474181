import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ARTIFACT_KINDS, type ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import type { ArtifactContent, ArtifactStore, CapturedFiles, OpenArtifact } from '../ports/artifact-store.ts';

/** Returns the files that a capture has, with their kinds. */
export function filesIn(captured: CapturedFiles): readonly (readonly [ArtifactKind, ArtifactContent])[] {
  return ARTIFACT_KINDS.flatMap((kind) => {
    const content = captured[kind];
    return content == null ? [] : [[kind, content] as const];
  });
}

/** Returns a store with some methods replaced. Its size is read each time: spreading would copy it once. */
export function changedStore(store: ArtifactStore, changed: Partial<Omit<ArtifactStore, 'bytes'>>): ArtifactStore {
  return {
    ...store,
    ...changed,
    get bytes() {
      return store.bytes;
    },
  };
}

/** Returns the SHA-256 that a file should have, in hex: stores know that of the image, and some that of all files. */
export function expectedDigest(kind: ArtifactKind, { sha256, info }: OpenArtifact): string | undefined {
  return sha256 ?? (kind === 'image' ? info.sha256 : undefined);
}

/** Reads all files of a capture; undefined when one of them is gone or, where `isVerified`, is not what was stored. */
export async function readFiles(
  store: Pick<ArtifactStore, 'open'>,
  { id, artifacts }: StoredRecord,
  isVerified = false,
): Promise<CapturedFiles | undefined> {
  const contents: Partial<Record<ArtifactKind, Buffer>> = {};
  for (const kind of artifacts?.kinds ?? []) {
    const file = await store.open(id, kind);
    if (file === undefined) return undefined;
    const content = await buffer(file.stream());
    const expected = isVerified ? expectedDigest(kind, file) : undefined;
    if (expected !== undefined && hash('sha256', content) !== expected) return undefined;
    contents[kind] = content;
  }
  const { image, html } = contents;
  return image === undefined || html === undefined ? undefined : { ...contents, image, html };
}
