import { MEMBERS, type OutputKind, REQUIRED_KINDS, type RequiredKind } from '../../src/capture/artifacts.ts';
import type { Result } from './types.ts';

/** The element map is for comparisons, and is not shown. */
export type ShownKind = RequiredKind | OutputKind;

export interface Artifact {
  readonly kind: ShownKind;
  readonly path: string;
}

/** Returns the stored files of a capture; none when it failed. */
export function artifactsOf(result: Result): readonly Artifact[] {
  const required = REQUIRED_KINDS.map((kind) => ({ kind, path: result[MEMBERS[kind]] }));
  const outputs = result.outputs.map(({ name, path }) => ({ kind: name, path }));
  return [...required, ...outputs].filter(({ path }) => path !== '');
}
