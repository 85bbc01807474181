import { type ImageFormat, MAX_PIXELS, type Rectangle } from '../../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../../capture/request.ts';

/** Maximum height in pixels. Chromium cannot draw more into one screenshot, and WebP holds one row less. */
const TALLEST: Readonly<Record<ImageFormat, number>> = { png: 16_384, jpeg: 16_384, webp: 16_383 };

/** Size of a screenshot in pixels, and of the page that it shows. */
export interface ScreenshotSize {
  readonly width: number;
  readonly height: number;
  /** True when it shows less than requested, because one screenshot cannot hold more. */
  readonly truncated: boolean;
  /** Height of the whole page in pixels, with `fullPage`; 0 without. */
  readonly fullHeight: number;
}

/** A PDF has sheets and no pixels. */
export const ON_PAPER: ScreenshotSize = { width: 0, height: 0, truncated: false, fullHeight: 0 };

/** Returns the maximum length of a side of the screenshot, in CSS pixels. */
export function maxHeightOf(request: CaptureRequest): number {
  const { format } = request;
  return Math.floor(TALLEST[format === 'pdf' ? 'png' : format] / request.viewport.deviceScaleFactor);
}

export function windowSize(request: CaptureRequest): ScreenshotSize {
  return sizeOf({ x: 0, y: 0, ...request.viewport }, request, false);
}

/** A rectangle in CSS pixels that fits into one screenshot, and the size of that screenshot. */
export interface HoldablePart {
  readonly part: Rectangle;
  readonly size: ScreenshotSize;
}

/** Returns as much of a rectangle as one screenshot can hold, from its upper left corner. */
export function holdable(whole: Rectangle, request: CaptureRequest): HoldablePart {
  const { deviceScaleFactor } = request.viewport;
  // Chromium never answers a request for less than one pixel.
  const least = Math.ceil(1 / deviceScaleFactor);
  const tallest = maxHeightOf(request);
  const width = Math.max(least, Math.min(whole.width, tallest));
  const height = Math.max(
    least,
    Math.min(whole.height, tallest, Math.floor(MAX_PIXELS / deviceScaleFactor ** 2 / width)),
  );
  const part = { x: whole.x, y: whole.y, width, height };
  return { part, size: sizeOf(part, request, width < whole.width || height < whole.height) };
}

function sizeOf({ width, height }: Rectangle, request: CaptureRequest, truncated: boolean): ScreenshotSize {
  const { deviceScaleFactor } = request.viewport;
  return {
    width: Math.round(width * deviceScaleFactor),
    height: Math.round(height * deviceScaleFactor),
    truncated,
    fullHeight: 0,
  };
}
