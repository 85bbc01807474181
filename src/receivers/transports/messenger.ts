import type { ImageLimits, Notice, NoticeImage, ReadImage } from '../notice.ts';
import type { Attempt, Message, Transport } from '../transport.ts';
import { transport } from './exchange.ts';

/** An image to be sent, with a file name for it. */
export interface SentImage extends ReadImage {
  readonly image: NoticeImage;
  readonly fileName: string;
}

/** An image that the receiver loads by its URL. */
export interface LinkedImage {
  readonly url: string;
  readonly alt: string;
}

/** The images of a message: all of them files, or all of them links, or none. */
interface Images {
  readonly files: readonly SentImage[];
  readonly links: readonly LinkedImage[];
}

interface MessageUnderWay extends Pick<Message, 'id'> {
  readonly signal: AbortSignal;
}

interface MessengerOptions {
  /** Limits of images that are sent as files, and their number. Without it, none are. */
  readonly files?: ImageLimits & { readonly count?: number };
  /** Whether the receiver loads images by their URLs. */
  readonly loads: boolean;
  /** Whether a message was not taken because of its images. */
  readonly refusesImages: (end: Attempt) => boolean;
  readonly tell: (notice: Notice, images: Images, message: MessageUnderWay) => Promise<Attempt>;
}

const NO_IMAGES: Images = { files: [], links: [] };

/** Returns a transport that tells people: with files, else with images that it loads, else with the words alone. */
export function messenger({ files: limits, loads, refusesImages, tell }: MessengerOptions): Transport {
  return transport(async ({ id, notice: makeNotice }, signal) => {
    const notice = await makeNotice();
    const files = limits === undefined ? [] : await readImages(notice.images.slice(0, limits.count), limits, signal);
    const links = loads ? notice.images.flatMap(({ url, alt }) => (url === null ? [] : [{ url, alt }])) : [];
    for (const images of [
      { ...NO_IMAGES, files },
      { ...NO_IMAGES, links },
    ]) {
      if (images.files.length + images.links.length === 0) continue;
      const end = await tell(notice, images, { id, signal });
      if (!refusesImages(end)) return end;
    }
    return tell(notice, NO_IMAGES, { id, signal });
  });
}

/** Reads images one after another, so that one at a time is made smaller. Leaves out those that are gone. */
async function readImages(
  images: readonly NoticeImage[],
  limits: ImageLimits,
  signal: AbortSignal,
): Promise<readonly SentImage[]> {
  const read: SentImage[] = [];
  for (const image of images) {
    signal.throwIfAborted();
    const found = await image.read(limits);
    if (found === null) continue;
    read.push({ ...found, image, fileName: `${image.name}.${found.mediaType === 'image/png' ? 'png' : 'jpg'}` });
  }
  return read;
}
