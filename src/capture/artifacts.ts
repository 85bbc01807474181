import { FORMATS } from './formats.ts';
import type { CaptureFormat } from './options/screenshot.ts';

export interface ArtifactFacts {
  /** The name of the file. `format`: that of the capture's image. */
  fileName(format: CaptureFormat): string;
  /** The value of `Content-Type`. */
  mediaType(format: CaptureFormat): string;
}

/** Kinds of stored files: the screenshot (or PDF), and the HTML snapshot. */
export const ARTIFACT_KINDS = ['image', 'html'] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

export const ARTIFACTS: Readonly<Record<ArtifactKind, ArtifactFacts>> = {
  image: {
    fileName: (format) => `image.${FORMATS[format].extensions[0]}`,
    mediaType: (format) => FORMATS[format].mediaType,
  },
  html: {
    fileName: () => 'page.html',
    mediaType: () => 'text/html; charset=utf-8',
  },
};
