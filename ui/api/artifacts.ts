import { ARTIFACT_KINDS, ARTIFACTS, type ArtifactKind } from '../../src/capture/artifacts.ts';
import type { Result } from './types.ts';

export interface Artifact {
  readonly kind: ArtifactKind;
  readonly path: string;
}

/** Returns the stored files of a capture; none when it failed. */
export function artifactsOf(result: Result): readonly Artifact[] {
  return ARTIFACT_KINDS.flatMap((kind) => {
    const path = result[ARTIFACTS[kind].member];
    return path === '' ? [] : [{ kind, path }];
  });
}
