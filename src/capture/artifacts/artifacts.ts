import { type CaptureFormat, FORMATS } from './formats.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

/** Databases of results. */
export const DATABASES = ['sqlite', 'mongo'] as const;
export type DatabaseKind = (typeof DATABASES)[number];
/** The option that names the place of each. */
export const DATABASE_OPTIONS = { sqlite: 'dbPath', mongo: 'mongoUrl' } as const satisfies Record<DatabaseKind, string>;
/** The values of these options: at most one is not null. */
export type DatabasePlaces = { readonly [Kind in DatabaseKind as (typeof DATABASE_OPTIONS)[Kind]]: string | null };

/** Returns the configured database; undefined without one. */
export function databaseOf(places: Partial<DatabasePlaces>) {
  for (const kind of DATABASES) {
    const place = places[DATABASE_OPTIONS[kind]];
    if (place != null) return { kind, place };
  }
  return undefined;
}

interface ArtifactStoreFacts {
  /** Whether the data directory is the store. If not, the kind is the name of the store in records. */
  readonly isInDataDir: boolean;
  /** The option that the store requires; null for none. */
  readonly needs: string | null;
  /** Its name for people. */
  readonly label: string;
}

/** Where the files of captures are kept. */
export const ARTIFACT_STORES = {
  files: { isInDataDir: true, needs: null, label: 'the data directory' },
  gridfs: { isInDataDir: false, needs: 'mongoUrl', label: 'GridFS' },
  s3: { isInDataDir: false, needs: 's3Bucket', label: 'the object store' },
} as const satisfies Record<string, ArtifactStoreFacts>;
export type ArtifactStoreKind = keyof typeof ARTIFACT_STORES;
export const ARTIFACT_STORE_KINDS = Object.keys(ARTIFACT_STORES) as [ArtifactStoreKind, ...ArtifactStoreKind[]];

/** The options of the object store. */
export const S3_OPTIONS = [
  's3Bucket',
  's3Endpoint',
  's3Region',
  's3Prefix',
  's3Addressing',
  's3Presign',
  's3AccessKey',
  's3SecretKey',
] as const;

interface ArtifactFacts {
  /** Its name for people, in the web interface and in the OpenAPI document. */
  readonly label: string;
  /** The name of the file, without its extension. */
  readonly stem: string;
  /** `format`: that of the capture's image. */
  extension(format: CaptureFormat): string;
  /** The value of `Content-Type`. */
  mediaType(format: CaptureFormat): string;
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

const JSON_TYPE = 'application/json; charset=utf-8';

export const ARTIFACTS: Readonly<Record<ArtifactKind, ArtifactFacts>> = {
  image: {
    label: 'Screenshot',
    stem: 'image',
    extension: (format) => FORMATS[format].extensions[0],
    mediaType: (format) => FORMATS[format].mediaType,
    isInert: false,
  },
  html: ofPage('HTML snapshot', 'html', 'text/html; charset=utf-8'),
  markdown: ofPage('Markdown', 'md', 'text/markdown; charset=utf-8'),
  blocks: ofPage('Blocks', 'blocks.json', JSON_TYPE),
  text: ofPage('Text', 'txt', 'text/plain; charset=utf-8'),
  links: ofPage('Links', 'links.json', JSON_TYPE),
  metadata: ofPage('Metadata', 'metadata.json', JSON_TYPE),
  mhtml: ofPage('MHTML', 'mhtml', 'multipart/related'),
  har: ofPage('HAR', 'har', JSON_TYPE),
  // Browsers show this name of the type, and save the registered one.
  aria: ofPage('ARIA snapshot', 'aria.yaml', 'text/yaml; charset=utf-8'),
  accessibility: ofPage('Accessibility tree', 'accessibility.json', JSON_TYPE),
  extract: ofPage('Extracted values', 'extract.json', JSON_TYPE),
  // Data about the page for comparisons. Stored with every image unless the request turns it off.
  elements: ofPage('Element map', 'elements.json', JSON_TYPE),
};

function ofPage(label: string, extension: string, mediaType: string): ArtifactFacts {
  return { label, stem: 'page', extension: () => extension, mediaType: () => mediaType, isInert: true };
}

/**
 * Returns the value of `ETag`, without quotation marks. The record holds a digest of the image alone; captures never
 * change, so it identifies the other files, too.
 */
export function etagOf(kind: ArtifactKind, { id, sha256 }: ScreenshotInfo): string {
  return kind === 'image' ? sha256 : `${kind}-${id}-${sha256}`;
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
