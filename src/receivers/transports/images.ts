import type { ImageLimits, Notice, NoticeImage, ReadImage } from '../notice.ts';

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

/** Returns the images of a notice that a receiver can load. */
export function linkedImages({ images }: Notice): readonly LinkedImage[] {
  return images.flatMap(({ url, alt }) => (url === null ? [] : [{ url, alt }]));
}

/** Reads images one after another, so that one at a time is made smaller. Leaves out those that are gone. */
export async function readImages(
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
