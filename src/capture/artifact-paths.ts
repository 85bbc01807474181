import {
  type ArtifactKind,
  type ArtifactMember,
  forKinds,
  forMembers,
  REQUIRED_KINDS,
  type RequiredKind,
} from './artifacts.ts';
import type { Result } from './result.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/*
 * Records name artifacts by kind. Clients, subscribers and webhook receivers get the paths of the HTTP API, which are
 * added when a result is sent, so that stored records outlive a change of the API.
 */

function pathOf(id: number, kind: ArtifactKind): string {
  return kind === 'image' ? `/screenshot/${id}` : `/screenshot/${id}?view=${kind}`;
}

/** A result as the API sends it: with the path of each artifact, `''` when there is none. */
export type SentResult<T extends Result = Result> = Omit<T, 'artifacts'> & Readonly<Record<ArtifactMember, string>>;

export function sentResult<T extends Result>({ artifacts, ...rest }: T): SentResult<T> {
  return { ...rest, ...forMembers((kind) => (artifacts?.kinds.includes(kind) ? pathOf(rest.id, kind) : '')) };
}

/** The description of a stored image as the API sends it: with the paths of the files that every capture has. */
export type SentScreenshotInfo = ScreenshotInfo & Readonly<Record<RequiredKind, string>>;

export function sentInfo(info: ScreenshotInfo): SentScreenshotInfo {
  return { ...info, ...forKinds(REQUIRED_KINDS, (kind) => pathOf(info.id, kind)) };
}
