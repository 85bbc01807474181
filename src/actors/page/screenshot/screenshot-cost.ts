import { MAX_PIXELS } from '../../../capture/options/screenshot.ts';
import type { CaptureRequest } from '../../../capture/request.ts';

/** Measured: the largest screenshot takes 2 s on an idle machine. */
const MS_PER_PIXEL = 2_000 / MAX_PIXELS;
/** Measured: beyond the window Chromium paints the whole document, 1.5 to 3 s for 45,000 table cells. */
const MS_PER_ELEMENT = 0.05;

/** Estimated time, in milliseconds, for a screenshot beyond the window: `height` CSS pixels of a document. */
export function screenshotMs(height: number, elements: number, request: CaptureRequest): number {
  const { width, deviceScaleFactor } = request.viewport;
  return width * height * deviceScaleFactor ** 2 * MS_PER_PIXEL + elements * MS_PER_ELEMENT;
}
