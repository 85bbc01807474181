import { FORMATS, type ImageFormat } from '../../capture/formats.ts';
import { MAX_IMAGE_PIXELS, MAX_PAGE_HEIGHT, MAX_PIXELS, type Rectangle } from '../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { TruncatedBy } from '../../capture/truncation.ts';
import { tilesOf } from './rectangles.ts';

/** Maximum length of a side that Chromium draws at once, in pixels. */
const MAX_SIDE = 16_384;
/** A page that grows while it is scrolled is followed to this height in CSS pixels, or to this multiple of its own. */
const MIN_FOLLOWED = 30_000;
const MAX_GROWTH = 2;
/** Maximum number of CSS pixels in which rows of CSS pixels and of image pixels are looked for to end together. */
const MAX_PERIOD = 1_000;

/** Size of a screenshot in pixels, and of the page that it shows. */
export interface ScreenshotSize {
  readonly width: number;
  readonly height: number;
  /** Why it shows less than requested. */
  readonly truncatedBy: TruncatedBy;
  /** Height of the whole page in pixels, with `fullPage`; 0 without. */
  readonly fullHeight: number;
}

/** A PDF has sheets and no pixels. */
export const ON_PAPER: ScreenshotSize = { width: 0, height: 0, truncatedBy: '', fullHeight: 0 };

/** Maximum height of an image, in CSS pixels. */
export interface HeightLimit {
  readonly height: number;
  readonly cause: TruncatedBy;
}

export const UNLIMITED: HeightLimit = { height: Number.POSITIVE_INFINITY, cause: 'limit' };

/** Returns the smaller limit; the first of equal ones. */
export function smaller(one: HeightLimit, other: HeightLimit): HeightLimit {
  return other.height < one.height ? other : one;
}

/** Returns the maximum height of the image that a request asks for. */
function heightLimit(request: CaptureRequest): HeightLimit {
  const { viewport, maxHeight = Number.POSITIVE_INFINITY } = request;
  const rows = FORMATS[imageFormat(request)].maxRows;
  const limit = smaller(
    { height: MAX_PAGE_HEIGHT, cause: 'limit' },
    { height: Math.floor(rows / viewport.deviceScaleFactor), cause: 'format' },
  );
  return smaller(limit, { height: maxHeight, cause: 'maxHeight' });
}

/** Returns the maximum height of the image, in CSS pixels. */
export function maxHeightOf(request: CaptureRequest): number {
  return heightLimit(request).height;
}

/**
 * Returns the height to which a page is followed while it grows, in CSS pixels: an endless page would otherwise take
 * all of the time. `height` is the page's height before it is scrolled.
 */
export function followedHeight(height: number, request: CaptureRequest): HeightLimit {
  const followed = request.maxHeight ?? Math.max(MIN_FOLLOWED, MAX_GROWTH * height);
  return smaller(heightLimit(request), { height: followed, cause: 'growth' });
}

export function windowSize(request: CaptureRequest): ScreenshotSize {
  return sizeOf(request.viewport, request, '');
}

/** A rectangle in CSS pixels that an image can hold, and the size of that image. */
export interface HoldablePart {
  readonly part: Rectangle;
  readonly size: ScreenshotSize;
}

/**
 * Returns as much of a rectangle as an image can hold, from its upper left corner. `shown` is how far down
 * the page has been prepared.
 */
export function holdable(whole: Rectangle, request: CaptureRequest, shown = UNLIMITED): HoldablePart {
  const { deviceScaleFactor } = request.viewport;
  // Chromium never answers a request for less than one pixel.
  const least = Math.ceil(1 / deviceScaleFactor);
  const widest = Math.floor(Math.min(MAX_SIDE, FORMATS[imageFormat(request)].maxRows) / deviceScaleFactor);
  const width = Math.max(least, Math.min(whole.width, widest));
  const pixels = { height: Math.floor(MAX_IMAGE_PIXELS / deviceScaleFactor ** 2 / width), cause: 'limit' } as const;
  const limit = smaller(smaller(heightLimit(request), pixels), shown);
  const height = Math.max(least, Math.min(whole.height, limit.height));
  const truncatedBy = height < whole.height ? limit.cause : width < whole.width ? 'limit' : '';
  const part = { x: whole.x, y: whole.y, width, height };
  return { part, size: sizeOf(part, request, truncatedBy) };
}

/** Cuts a part into bands that Chromium can draw at once, from top to bottom. */
export function bandsOf(part: Rectangle, request: CaptureRequest): readonly Rectangle[] {
  const scale = request.viewport.deviceScaleFactor;
  const tallest = Math.floor(Math.min(MAX_SIDE / scale, MAX_PIXELS / scale ** 2 / part.width));
  if (part.height <= tallest) return [part];
  // Bands end where a row of CSS pixels and a row of image pixels end together: otherwise a row would be missing.
  const period = periodOf(scale);
  const band = Math.max(1, tallest - (tallest % period));
  return tilesOf(part, part.width, band);
}

function periodOf(scale: number): number {
  for (let rows = 1; rows <= MAX_PERIOD; rows += 1) {
    if (Math.abs(rows * scale - Math.round(rows * scale)) < 1e-6) return rows;
  }
  return 1;
}

/** Returns the image format; PNG for a PDF, which is not encoded as an image. */
export function imageFormat({ format }: CaptureRequest): ImageFormat {
  return format === 'pdf' ? 'png' : format;
}

export function sizeOf(
  { width, height }: Pick<Rectangle, 'width' | 'height'>,
  request: CaptureRequest,
  truncatedBy: TruncatedBy,
): ScreenshotSize {
  const { deviceScaleFactor } = request.viewport;
  return {
    width: Math.round(width * deviceScaleFactor),
    height: Math.round(height * deviceScaleFactor),
    truncatedBy,
    fullHeight: 0,
  };
}
