import type { Result } from '../result/result.ts';
import {
  ARTIFACTS,
  type ArtifactKind,
  type ArtifactMember,
  forKinds,
  forMembers,
  REQUIRED_KINDS,
  type RequiredKind,
  viewOf,
} from './artifacts.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/*
 * Records name artifacts by kind. Clients, subscribers and webhook receivers get the paths of the HTTP API, which are
 * added when a result is sent, so that stored records outlive a change of the API.
 */

function pathOf(id: number, kind: ArtifactKind): string {
  return kind === 'image' ? `/screenshot/${id}` : `/screenshot/${id}?view=${viewOf(kind)}`;
}

/** An output as the API sends it. */
type SentOutput = Result['outputs'][number] & { readonly path: string; readonly type: string };

/** A result as the API sends it: with the path of each artifact, `''` when there is none. */
export type SentResult<T extends Result = Result> = Omit<T, 'artifacts' | 'outputs'> &
  Readonly<Record<ArtifactMember, string>> & { readonly outputs: readonly SentOutput[] };

export function sentResult<T extends Result>({ artifacts, outputs, ...rest }: T): SentResult<T> {
  const sentPath = (kind: ArtifactKind): string => (artifacts?.kinds.includes(kind) ? pathOf(rest.id, kind) : '');
  return {
    ...rest,
    ...forMembers(sentPath),
    outputs: outputs.map((output) => ({
      ...output,
      path: sentPath(output.name),
      type: ARTIFACTS[output.name].mediaType(rest.format),
    })),
  };
}

/** The description of a stored image as the API sends it: with the paths of the files that every capture has. */
type SentScreenshotInfo = ScreenshotInfo & Readonly<Record<RequiredKind, string>>;

export function sentInfo(info: ScreenshotInfo): SentScreenshotInfo {
  return { ...info, ...forKinds(REQUIRED_KINDS, (kind) => pathOf(info.id, kind)) };
}
