import { MAX_PIXELS } from '../../capture/options/screenshot.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Measured: the largest screenshot takes 2 s on an idle machine. */
const MS_PER_PIXEL = 2_000 / MAX_PIXELS;
/** Measured: beyond the window Chromium paints the whole document, 1.5 to 3 s for 45,000 table cells. */
const MS_PER_ELEMENT = 0.05;
/** The same for each further band: drawing instructions are partly kept. Measured: 0.4 s for 40,000 table cells. */
const MS_PER_ELEMENT_AGAIN = 0.015;
/** Measured: joining bands takes 0.9 s for 168 megapixels of text, 8 s for as many of noise. */
const JOIN_MS_PER_PIXEL = 2e-5;

/** Estimated time, in milliseconds, for a screenshot beyond the window: `height` CSS pixels of a document. */
export function screenshotMs(height: number, elements: number, { viewport, scale }: ShotPlan): number {
  const pixels = viewport.width * height * scale ** 2;
  const furtherBands = Math.floor(pixels / MAX_PIXELS);
  return pixels * MS_PER_PIXEL + elements * (MS_PER_ELEMENT + furtherBands * MS_PER_ELEMENT_AGAIN);
}

/** Estimated time, in milliseconds, to join bands into an image of this size. */
export function joinMs({ width, height }: { readonly width: number; readonly height: number }): number {
  return width * height * JOIN_MS_PER_PIXEL;
}
