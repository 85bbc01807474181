import { buffer } from 'node:stream/consumers';
import { ARTIFACT_KINDS, type ArtifactKind } from '../../capture/artifacts/artifacts.ts';
import type { StoredRecord } from '../../capture/result/result.ts';
import type { ArtifactContent, ArtifactStore, CapturedFiles } from '../ports/artifact-store.ts';

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

/** Reads all files of a capture; undefined when one of them is gone. */
export async function readFiles(
  store: Pick<ArtifactStore, 'open'>,
  { id, artifacts }: StoredRecord,
): Promise<CapturedFiles | undefined> {
  const contents: Partial<Record<ArtifactKind, Buffer>> = {};
  for (const kind of artifacts?.kinds ?? []) {
    const file = await store.open(id, kind);
    if (file === undefined) return undefined;
    contents[kind] = await buffer(file.stream());
  }
  const { image, html } = contents;
  return image === undefined || html === undefined ? undefined : { ...contents, image, html };
}
