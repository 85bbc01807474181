import { MEMBERS, type OutputKind, REQUIRED_KINDS, type RequiredKind } from '../../src/capture/artifacts/artifacts.ts';
import type { Result } from './types.ts';

export type ShownKind = RequiredKind | OutputKind | 'elements';

interface Artifact {
  readonly kind: ShownKind;
  readonly path: string;
}

/** Returns the stored files of a capture; none when it failed. */
export function artifactsOf(result: Result): readonly Artifact[] {
  const required = REQUIRED_KINDS.map((kind) => ({ kind, path: result[MEMBERS[kind]] }));
  const outputs = result.outputs.map(({ name, path }) => ({ kind: name, path }));
  // Records do not say whether a capture has an element map.
  const hasMap = !result.failed && result.format !== 'pdf' && result.options.elementMap !== false;
  const map = hasMap ? [{ kind: 'elements', path: mapPath(result.id) } as const] : [];
  return [...required, ...outputs, ...map].filter(({ path }) => path !== '');
}

export function mapPath(id: number): string {
  return `/screenshot/${id}?view=elements`;
}
