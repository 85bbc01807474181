import { type ArtifactKind, MEMBERS, REQUIRED_KINDS } from '../../src/capture/artifacts.ts';
import type { Result } from './types.ts';

export interface Artifact {
  readonly kind: ArtifactKind;
  readonly path: string;
}

/** Returns the stored files of a capture; none when it failed. */
export function artifactsOf(result: Result): readonly Artifact[] {
  const required = REQUIRED_KINDS.map((kind) => ({ kind, path: result[MEMBERS[kind]] }));
  const outputs = result.outputs.map(({ name, path }) => ({ kind: name, path }));
  return [...required, ...outputs].filter(({ path }) => path !== '');
}
