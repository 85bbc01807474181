import { FORMATS } from './formats.ts';
import type { CaptureFormat } from './options/screenshot.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/** Where the files of captures are kept. */
export const ARTIFACT_STORES = ['files', 'gridfs'] as const;
export type ArtifactStoreKind = (typeof ARTIFACT_STORES)[number];

export interface ArtifactFacts {
  /** Its name for people, in the web interface and in the OpenAPI document. */
  readonly label: string;
  /** The member of a result that holds the path of the file. */
  readonly member: string;
  /** The name of the file, without its extension. */
  readonly stem: string;
  /** `format`: that of the capture's image. */
  extension(format: CaptureFormat): string;
  /** The value of `Content-Type`. */
  mediaType(format: CaptureFormat): string;
  /** The value of `ETag`, without quotation marks. */
  etag(info: ScreenshotInfo): string;
  /** Whether a browser would load or run what is in it; it is served with a policy that prevents both. */
  readonly isActive: boolean;
}

/** Kinds of stored files that every capture has: the screenshot (or PDF), and the HTML snapshot. */
export const REQUIRED_KINDS = ['image', 'html'] as const;
export type RequiredKind = (typeof REQUIRED_KINDS)[number];

/** Kinds of stored files. Those beside the required ones are stored when the capture has them. */
export const ARTIFACT_KINDS = [...REQUIRED_KINDS] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

export const ARTIFACTS = {
  image: {
    label: 'Screenshot',
    member: 'screenshot',
    stem: 'image',
    extension: (format) => FORMATS[format].extensions[0],
    mediaType: (format) => FORMATS[format].mediaType,
    etag: ({ sha256 }) => sha256,
    isActive: false,
  },
  html: {
    label: 'HTML snapshot',
    member: 'html',
    stem: 'page',
    extension: () => 'html',
    mediaType: () => 'text/html; charset=utf-8',
    etag: ({ id, sha256 }) => `html-${id}-${sha256}`,
    isActive: true,
  },
} as const satisfies Readonly<Record<ArtifactKind, ArtifactFacts>>;

/** The members of a result that hold paths of files. */
export type ArtifactMember = (typeof ARTIFACTS)[ArtifactKind]['member'];

/** Returns an object with a value for each of these kinds. */
export function forKinds<K extends ArtifactKind, T>(kinds: readonly K[], of: (kind: K) => T): Record<K, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as Record<K, T>;
}

/** Returns an object with a value for each kind, named as in results. */
export function forMembers<T>(of: (kind: ArtifactKind) => T): Record<ArtifactMember, T> {
  const entries = ARTIFACT_KINDS.map((kind) => [ARTIFACTS[kind].member, of(kind)]);
  return Object.fromEntries(entries) as Record<ArtifactMember, T>;
}

/** The name of a stored file. `format`: that of the capture's image. */
export function artifactFile(kind: ArtifactKind, format: CaptureFormat): string {
  const { stem, extension } = ARTIFACTS[kind];
  return `${stem}.${extension(format)}`;
}
