import type { CaptureFormat } from './options/screenshot.ts';

export interface FormatFacts {
  readonly mediaType: string;
  /** Endings of file names, without the dot: the one that is written, then others that are understood. */
  readonly extensions: readonly [string, ...string[]];
}

/** Media type and file extensions of each format. */
export const FORMATS: Readonly<Record<CaptureFormat, FormatFacts>> = {
  png: { mediaType: 'image/png', extensions: ['png'] },
  jpeg: { mediaType: 'image/jpeg', extensions: ['jpg', 'jpeg'] },
  webp: { mediaType: 'image/webp', extensions: ['webp'] },
  pdf: { mediaType: 'application/pdf', extensions: ['pdf'] },
};
