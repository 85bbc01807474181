export const IMAGE_FORMATS = ['png', 'jpeg', 'webp'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];
export const CAPTURE_FORMATS = [...IMAGE_FORMATS, 'pdf'] as const;
export type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

interface FormatFacts {
  readonly mediaType: string;
  /** Endings of file names, without the dot: the one that is written, then others that are understood. */
  readonly extensions: readonly [string, ...string[]];
  /** Format of Chromium's screenshot, which is converted afterwards if it differs. Unused for PDF. */
  readonly takenAs: 'png' | 'jpeg' | 'webp';
  /** Maximum height of an image, in pixels. */
  readonly maxRows: number;
  /** Whether it is encoded with a quality; other formats lose nothing. */
  readonly hasQuality: boolean;
  readonly hasTransparency: boolean;
}

/** Facts about each format. Encoders are in `page/screenshot/encode-image.ts`. */
export const FORMATS: Readonly<Record<CaptureFormat, FormatFacts>> = {
  png: {
    mediaType: 'image/png',
    extensions: ['png'],
    takenAs: 'png',
    maxRows: Number.POSITIVE_INFINITY,
    hasQuality: false,
    hasTransparency: true,
  },
  jpeg: {
    mediaType: 'image/jpeg',
    extensions: ['jpg', 'jpeg'],
    takenAs: 'jpeg',
    // libjpeg writes 36 rows fewer than the format allows.
    maxRows: 65_500,
    hasQuality: true,
    hasTransparency: false,
  },
  webp: {
    mediaType: 'image/webp',
    extensions: ['webp'],
    takenAs: 'webp',
    maxRows: 16_383,
    hasQuality: true,
    hasTransparency: true,
  },
  pdf: {
    mediaType: 'application/pdf',
    extensions: ['pdf'],
    takenAs: 'png',
    maxRows: Number.POSITIVE_INFINITY,
    hasQuality: false,
    hasTransparency: false,
  },
};
