import type { EventFields } from './event-fields.ts';
import type { ImageLimits, Notice, NoticeImage, ReadImage } from './notice.ts';

/** URLs that a reader without a key can open. */
export interface SharedUrls {
  readonly page: string;
  /** Of the first capture: the one before, if there are two. */
  readonly image: string;
  /** Of the later capture, and of what differs; null for a single capture. */
  readonly later: string | null;
  readonly difference: string | null;
}

/** Sources of the parts of notices. */
export interface NoticeSources {
  /** URL by which people reach the service; null: notices link to pages alone. */
  readonly publicUrl: string | null;
  /** Shares the capture of an event, or both of a change, for a key; null when nothing can be shared. */
  share(captures: ToldCaptures, apiKeyName: string | null): Promise<SharedUrls | null>;
  /** Reads an image of a capture within limits; null when there is none. */
  readImage(capture: number, limits: ImageLimits): Promise<ReadImage | null>;
  /** Draws two captures beside each other, with what differs marked; null when they cannot be compared. */
  drawDifference(captures: CapturePair, limits: ImageLimits): Promise<ReadImage | null>;
}

/** The captures that an event tells of. */
interface ToldCaptures {
  readonly before: number | null;
  readonly after: number;
}

interface CapturePair {
  readonly before: number;
  readonly after: number;
}

/** Returns the captures of an event: both of a change, or one; null without any. */
export function capturesOf({ type, run, result, id }: EventFields): ToldCaptures | null {
  if (run !== undefined) {
    if (run.capture === null) return null;
    return { before: type === 'watch.changed' ? run.before : null, after: run.capture };
  }
  return result?.artifacts && id !== undefined ? { before: null, after: id } : null;
}

export function linksOf(
  { url = '', watch = null }: EventFields,
  captures: ToldCaptures | null,
  publicUrl: string | null,
  shared: SharedUrls | null,
): Notice['links'] {
  const links: { label: string; url: string }[] = [];
  const isPair = captures !== null && captures.before !== null;
  if (shared !== null) links.push({ label: isPair ? 'Comparison' : 'Capture', url: shared.page });
  else if (publicUrl !== null && captures !== null) {
    const { before, after } = captures;
    if (before === null) links.push({ label: 'Capture', url: viewUrl(publicUrl, `/results/${after}`) });
    else links.push({ label: 'Comparison', url: viewUrl(publicUrl, `/compare?a=${before}&b=${after}`) });
  }
  if (/^https?:/.test(url)) links.push({ label: 'Page', url });
  if (publicUrl !== null && watch !== null)
    links.push({ label: 'Watch', url: viewUrl(publicUrl, `/watches/${watch}`) });
  return links;
}

/** Returns the URL of a view of the web interface. */
export function viewUrl(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/ui${path}`;
}

export function imagesOf(
  captures: ToldCaptures | null,
  sources: NoticeSources,
  shared: SharedUrls | null,
): readonly NoticeImage[] {
  if (captures === null) return [];
  const { before, after } = captures;
  const image = (name: 'before' | 'after', id: number, url: string | null | undefined): NoticeImage => ({
    name,
    alt: name === 'before' ? 'Screenshot before the change' : 'Screenshot',
    url: url ?? null,
    read: (limits) => sources.readImage(id, limits),
  });
  if (before === null) return [image('after', after, shared?.image)];
  return [
    {
      name: 'difference',
      alt: 'Both screenshots beside each other, with what differs marked',
      url: shared?.difference ?? null,
      read: (limits) => sources.drawDifference({ before, after }, limits),
    },
    image('after', after, shared?.later),
    image('before', before, shared?.image),
  ];
}
