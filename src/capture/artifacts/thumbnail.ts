import { z } from 'zod';
import { orOf } from '../basics/values.ts';
import { integer } from '../options/fields.ts';

export const THUMBNAIL_FORMATS = ['webp', 'png', 'jpeg', 'avif'] as const;
type ThumbnailFormat = (typeof THUMBNAIL_FORMATS)[number];

/** In pixels: the width of a large screen. */
const MAX_SIDE = 2048;
const DEFAULT_QUALITY = 80;

const side = integer('pixels', 1, MAX_SIDE);

/** Format and size of a thumbnail. Every field is optional. */
export const thumbnailFields = {
  width: side.meta({ description: 'Width of a thumbnail, in pixels. A smaller image is not enlarged.' }),
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

/** Returns the file name of a thumbnail, such as `320x-q80.webp`. Equal thumbnails have equal names. */
export function thumbnailName({ width, height, format, quality }: Thumbnail): string {
  const side = (pixels: number | undefined) => (pixels === undefined ? '' : String(pixels));
  return `${side(width)}x${side(height)}${format === 'png' ? '' : `-q${quality}`}.${format}`;
}
