import { type CaptureFormat, FORMATS } from './formats.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/** Where the files of captures are kept. */
export const ARTIFACT_STORES = ['files', 'gridfs'] as const;
export type ArtifactStoreKind = (typeof ARTIFACT_STORES)[number];

/** Databases of results. */
export const DATABASES = ['none', 'sqlite', 'mongo'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

export interface ArtifactFacts {
  /** Its name for people, in the web interface and in the OpenAPI document. */
  readonly label: string;
  /** The name of the file, without its extension. */
  readonly stem: string;
  /** `format`: that of the capture's image. */
  extension(format: CaptureFormat): string;
  /** The value of `Content-Type`. */
  mediaType(format: CaptureFormat): string;
  /** The value of `ETag`, without quotation marks. */
  etag(info: ScreenshotInfo): string;
  /** Whether it is text of the page, which is served with a policy that lets a browser load and run nothing. */
  readonly isInert: boolean;
}

/** Kinds of stored files that every capture has: the screenshot (or PDF), and the HTML snapshot. */
export const REQUIRED_KINDS = ['image', 'html'] as const;
export type RequiredKind = (typeof REQUIRED_KINDS)[number];

/** Kinds of stored files that a capture has when its request names them in `outputs`. */
export const NAMED_OUTPUT_KINDS = [
  'markdown',
  'blocks',
  'text',
  'links',
  'metadata',
  'mhtml',
  'har',
  'aria',
  'accessibility',
] as const;
export type NamedOutputKind = (typeof NAMED_OUTPUT_KINDS)[number];

/** Kinds of stored files that a capture has when its request asks for them: `extract` is asked for by its rules. */
export const OUTPUT_KINDS = [...NAMED_OUTPUT_KINDS, 'extract'] as const;
export type OutputKind = (typeof OUTPUT_KINDS)[number];

export const ARTIFACT_KINDS = [...REQUIRED_KINDS, ...OUTPUT_KINDS, 'elements'] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** Names of artifacts in `?view=`: those of the kinds, except that `metadata` is what is known of the image. */
export type View = Exclude<ArtifactKind, 'metadata'> | 'page_metadata';
export const VIEWS: readonly View[] = ARTIFACT_KINDS.map(viewOf);

export function viewOf(kind: ArtifactKind): View {
  return kind === 'metadata' ? 'page_metadata' : kind;
}

export function kindOf(view: View): ArtifactKind {
  return view === 'page_metadata' ? 'metadata' : view;
}

/** The members of a result that hold the paths of the required files. */
export const MEMBERS = { image: 'screenshot', html: 'html' } as const satisfies Readonly<Record<RequiredKind, string>>;
export type ArtifactMember = (typeof MEMBERS)[RequiredKind];

export const ARTIFACTS: Readonly<Record<ArtifactKind, ArtifactFacts>> = {
  image: {
    label: 'Screenshot',
    stem: 'image',
    extension: (format) => FORMATS[format].extensions[0],
    mediaType: (format) => FORMATS[format].mediaType,
    etag: ({ sha256 }) => sha256,
    isInert: false,
  },
  html: {
    label: 'HTML snapshot',
    stem: 'page',
    extension: () => 'html',
    mediaType: () => 'text/html; charset=utf-8',
    etag: etagOf('html'),
    isInert: true,
  },
  markdown: {
    label: 'Markdown',
    stem: 'page',
    extension: () => 'md',
    mediaType: () => 'text/markdown; charset=utf-8',
    etag: etagOf('markdown'),
    isInert: true,
  },
  blocks: {
    label: 'Blocks',
    stem: 'page',
    extension: () => 'blocks.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('blocks'),
    isInert: true,
  },
  text: {
    label: 'Text',
    stem: 'page',
    extension: () => 'txt',
    mediaType: () => 'text/plain; charset=utf-8',
    etag: etagOf('text'),
    isInert: true,
  },
  links: {
    label: 'Links',
    stem: 'page',
    extension: () => 'links.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('links'),
    isInert: true,
  },
  metadata: {
    label: 'Metadata',
    stem: 'page',
    extension: () => 'metadata.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('metadata'),
    isInert: true,
  },
  mhtml: {
    label: 'MHTML',
    stem: 'page',
    extension: () => 'mhtml',
    mediaType: () => 'multipart/related',
    etag: etagOf('mhtml'),
    isInert: true,
  },
  har: {
    label: 'HAR',
    stem: 'page',
    extension: () => 'har',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('har'),
    isInert: true,
  },
  aria: {
    label: 'ARIA snapshot',
    stem: 'page',
    extension: () => 'aria.yaml',
    // Browsers show this name of the type, and save the registered one.
    mediaType: () => 'text/yaml; charset=utf-8',
    etag: etagOf('aria'),
    isInert: true,
  },
  accessibility: {
    label: 'Accessibility tree',
    stem: 'page',
    extension: () => 'accessibility.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('accessibility'),
    isInert: true,
  },
  extract: {
    label: 'Extracted values',
    stem: 'page',
    extension: () => 'extract.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('extract'),
    isInert: true,
  },
  /** Data about the page for comparisons. Stored with every image unless the request turns it off. */
  elements: {
    label: 'Element map',
    stem: 'page',
    extension: () => 'elements.json',
    mediaType: () => 'application/json; charset=utf-8',
    etag: etagOf('elements'),
    isInert: true,
  },
};

/** ETags of files that the record holds no digest of. Captures never change, so that of the image identifies them. */
function etagOf(kind: ArtifactKind): ArtifactFacts['etag'] {
  return ({ id, sha256 }) => `${kind}-${id}-${sha256}`;
}

/** Returns an object with a value for each of these kinds. */
export function forKinds<K extends ArtifactKind, T>(kinds: readonly K[], of: (kind: K) => T): Record<K, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as Record<K, T>;
}

/** Returns an object with a value for each required kind, named as in results. */
export function forMembers<T>(of: (kind: RequiredKind) => T): Record<ArtifactMember, T> {
  const entries = REQUIRED_KINDS.map((kind) => [MEMBERS[kind], of(kind)]);
  return Object.fromEntries(entries) as Record<ArtifactMember, T>;
}

/** The name of a stored file. `format`: that of the capture's image. */
export function artifactFile(kind: ArtifactKind, format: CaptureFormat): string {
  const { stem, extension } = ARTIFACTS[kind];
  return `${stem}.${extension(format)}`;
}
