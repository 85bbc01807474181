import { MAX_IMAGE_PIXELS, MAX_PIXELS, type Rectangle } from '../../capture/options/screenshot.ts';
import type { Snapshot } from '../../capture/result/snapshot.ts';
import type { TruncatedBy } from '../../capture/result/truncation.ts';
import { tilesOf } from './rectangles.ts';
import { type HeightLimit, MAX_SIDE, type ShotPlan, smaller, UNLIMITED } from './shot-plan.ts';

/** A page that grows while it is scrolled is followed to this height in CSS pixels, or to this multiple of its own. */
const MIN_FOLLOWED = 30_000;
const MAX_GROWTH = 2;
/** Maximum number of CSS pixels in which rows of CSS pixels and of image pixels are looked for to end together. */
const MAX_PERIOD = 1_000;

/** Size of a screenshot in pixels, and of the page that it shows. */
export type ScreenshotSize = Pick<Snapshot, 'width' | 'height' | 'truncatedBy' | 'fullHeight'>;

/** A PDF has sheets and no pixels. */
export const ON_PAPER: ScreenshotSize = { width: 0, height: 0, truncatedBy: '', fullHeight: 0 };

/**
 * Returns the height to which a page is followed while it grows, in CSS pixels: an endless page would otherwise take
 * all of the time. `height` is the page's height before it is scrolled.
 */
export function followedHeight(height: number, { maxHeight, followedHeight: most }: ShotPlan): HeightLimit {
  const followed = most ?? Math.max(MIN_FOLLOWED, MAX_GROWTH * height);
  return smaller(maxHeight, { height: followed, cause: 'growth' });
}

export function windowSize(plan: ShotPlan): ScreenshotSize {
  return sizeOf(plan.viewport, plan, '');
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
export function holdable(whole: Rectangle, plan: ShotPlan, shown = UNLIMITED): HoldablePart {
  // Chromium never answers a request for less than one pixel.
  const least = Math.ceil(1 / plan.scale);
  const width = Math.max(least, Math.min(whole.width, plan.maxWidth));
  const pixels = { height: Math.floor(MAX_IMAGE_PIXELS / plan.scale ** 2 / width), cause: 'limit' } as const;
  const limit = smaller(smaller(plan.maxHeight, pixels), shown);
  const height = Math.max(least, Math.min(whole.height, limit.height));
  const truncatedBy = height < whole.height ? limit.cause : width < whole.width ? 'limit' : '';
  const part = { x: whole.x, y: whole.y, width, height };
  return { part, size: sizeOf(part, plan, truncatedBy) };
}

/** Cuts a part into bands that Chromium can draw at once, from top to bottom. */
export function bandsOf(part: Rectangle, { scale }: ShotPlan): readonly Rectangle[] {
  const tallest = Math.floor(Math.min(MAX_SIDE / scale, MAX_PIXELS / scale ** 2 / part.width));
  if (part.height <= tallest) return [part];
  // Bands end where a row of CSS pixels and a row of image pixels end together: otherwise a row would be missing.
  const period = periodOf(scale);
  const band = Math.max(1, tallest - (tallest % period));
  return tilesOf(part, part.width, band);
}

/** The smallest number of rows of CSS pixels that are whole rows of the image. */
export function periodOf(scale: number): number {
  for (let rows = 1; rows <= MAX_PERIOD; rows += 1) {
    if (Math.abs(rows * scale - Math.round(rows * scale)) < 1e-6) return rows;
  }
  return 1;
}

export function sizeOf(
  { width, height }: Pick<Rectangle, 'width' | 'height'>,
  { scale }: ShotPlan,
  truncatedBy: TruncatedBy,
): ScreenshotSize {
  return {
    width: Math.round(width * scale),
    height: Math.round(height * scale),
    truncatedBy,
    fullHeight: 0,
  };
}
