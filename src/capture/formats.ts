import type { CaptureFormat } from './options/screenshot.ts';

export interface FormatFacts {
  readonly mediaType: string;
  /** Endings of file names, without the dot: the one that is written, then others that are understood. */
  readonly extensions: readonly [string, ...string[]];
  /** Maximum height of an image, in pixels. */
  readonly maxRows: number;
}

/** Facts about each format. Encoders are in `actors/page/screenshot/encode-image.ts`. */
export const FORMATS: Readonly<Record<CaptureFormat, FormatFacts>> = {
  png: { mediaType: 'image/png', extensions: ['png'], maxRows: Number.POSITIVE_INFINITY },
  // libjpeg writes 36 rows fewer than the format allows.
  jpeg: { mediaType: 'image/jpeg', extensions: ['jpg', 'jpeg'], maxRows: 65_500 },
  webp: { mediaType: 'image/webp', extensions: ['webp'], maxRows: 16_383 },
  pdf: { mediaType: 'application/pdf', extensions: ['pdf'], maxRows: Number.POSITIVE_INFINITY },
};
