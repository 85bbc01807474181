import { z } from 'zod';
import { orOf } from '../basics/values.ts';
import { integer } from '../options/fields.ts';
import { REQUEST_LIMITS } from '../request-limits.ts';
import type { ScreenshotInfo } from './screenshot-info.ts';

export const THUMBNAIL_FORMATS = ['webp', 'png', 'jpeg', 'avif'] as const;
type ThumbnailFormat = (typeof THUMBNAIL_FORMATS)[number];

/** In pixels: the width of a large screen. */
const MAX_SIDE = 2048;
/** Maximum number of pixels of a side in WebP. */
export const MAX_ENCODED_SIDE = 16_383;
const DEFAULT_QUALITY = 80;
/**
 * Maximum number of pixels. Measured at the maximum: WebP 75 MiB, AVIF 73 MiB. PNG and JPEG are encoded row by row: 13
 * and 10 MiB for 13 megapixels.
 */
const MAX_PIXELS: Readonly<Record<ThumbnailFormat, number>> = {
  webp: REQUEST_LIMITS.thumbnailPixels.max,
  avif: REQUEST_LIMITS.avifPixels.max,
  png: Infinity,
  jpeg: Infinity,
};

const mebi = ({ max }: { readonly max: number }) => `${max / 2 ** 20} Mi pixels`;
/** The limits as text, for option descriptions. */
const PIXELS_TEXT = `${mebi(REQUEST_LIMITS.thumbnailPixels)} (\`avif\`: ${mebi(REQUEST_LIMITS.avifPixels)}; \`png\` and \`jpeg\`: only of a WebP image)`;

const side = integer('pixels', 1, MAX_SIDE);

/** Format and size of a thumbnail. Every field is optional. */
export const thumbnailFields = {
  width: side.meta({
    description: `Width of a thumbnail, in pixels. A smaller image is not enlarged, and a thumbnail of more than ${PIXELS_TEXT} is scaled down.`,
  }),
  height: side.meta({
    description:
      'Height of a thumbnail, in pixels. With `width`, the thumbnail fills both, and shows the upper left part of an image of another shape.',
  }),
  format: z
    .enum([...THUMBNAIL_FORMATS, 'jpg'], { error: `must be ${orOf(THUMBNAIL_FORMATS)}` })
    .transform((format) => (format === 'jpg' ? 'jpeg' : format))
    .meta({ type: 'string', enum: THUMBNAIL_FORMATS, default: 'webp', description: 'Format of a thumbnail.' }),
  quality: integer('', 1, 100).meta({
    default: DEFAULT_QUALITY,
    description: 'Quality of a thumbnail (`webp`, `jpeg`, `avif`).',
  }),
};

type Fields = z.output<z.ZodObject<typeof thumbnailFields>>;
type Given = { readonly [K in keyof Fields]?: Fields[K] | undefined };

/** A thumbnail to make. Without `width` and `height` it is as large as the image. */
export interface Thumbnail {
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly format: ThumbnailFormat;
  readonly quality: number;
}

/** Returns the requested thumbnail; undefined when none of its fields is given. */
export function thumbnailOf({ width, height, format, quality }: Given): Thumbnail | undefined {
  if (width === undefined && height === undefined && format === undefined && quality === undefined) return undefined;
  return { width, height, format: format ?? 'webp', quality: quality ?? DEFAULT_QUALITY };
}

/** Returns the thumbnail that is made of an image: the wanted one, or a smaller one that takes a bounded memory. */
export function boundedThumbnail<T extends Thumbnail>(
  wanted: T,
  image: Pick<ScreenshotInfo, 'format' | 'width' | 'height'>,
): T {
  const { width, height } = wanted;
  const sides = [(width ?? MAX_ENCODED_SIDE) / image.width, (height ?? MAX_ENCODED_SIDE) / image.height];
  const isFilled = width !== undefined && height !== undefined;
  const scale = Math.min(1, isFilled ? Math.max(...sides) : Math.min(...sides));
  const [scaledWidth, scaledHeight] = [image.width * scale, image.height * scale];
  const [shownWidth, shownHeight] = isFilled
    ? [Math.min(width, scaledWidth), Math.min(height, scaledHeight)]
    : [scaledWidth, scaledHeight];
  // A WebP image is decoded as a whole, scaled, and held while the thumbnail is encoded.
  const decoded = image.format === 'webp' ? (scaledWidth * scaledHeight) / MAX_PIXELS.webp : 0;
  const excess = decoded + (shownWidth * shownHeight) / MAX_PIXELS[wanted.format];
  if (!(excess > 1)) return wanted;
  const bounded = (side: number) => Math.max(1, Math.floor(side / Math.sqrt(excess)));
  return { ...wanted, width: bounded(shownWidth), height: isFilled ? bounded(shownHeight) : undefined };
}

/** Returns the file name of a thumbnail, such as `320x-q80.webp`. Equal thumbnails have equal names. */
export function thumbnailName({ width, height, format, quality }: Thumbnail): string {
  const side = (pixels: number | undefined) => (pixels === undefined ? '' : String(pixels));
  return `${side(width)}x${side(height)}${format === 'png' ? '' : `-q${quality}`}.${format}`;
}
