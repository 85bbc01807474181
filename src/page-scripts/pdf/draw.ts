import { canvasWidthOf, setCanvasHeight, setCanvasWidth } from '../dom.ts';
import { web } from '../web.ts';
import type { Placed } from './lay-out.ts';

/** Maximum number of pixels of all canvases together. Each takes 4 bytes. */
const MAX_PIXELS = 128 * 1024 * 1024;

/** Draws pages on their canvases, as sharp as the window if there are few enough. */
export async function drawAll(pages: readonly Placed[]): Promise<void> {
  const area = pages.reduce((sum, { shownWidth, shownHeight }) => sum + shownWidth * shownHeight, 0);
  const sharpness = Math.min(web.devicePixelRatio, Math.sqrt(MAX_PIXELS / area));
  // A page that cannot be drawn stays white, as in other viewers.
  for (const placed of pages) await draw(placed, sharpness).catch(() => undefined);
}

async function draw({ sheet, canvas, shownWidth, shownHeight }: Placed, sharpness: number): Promise<void> {
  setCanvasWidth(canvas, Math.max(1, Math.floor(shownWidth * sharpness)));
  setCanvasHeight(canvas, Math.max(1, Math.floor(shownHeight * sharpness)));
  const viewport = sheet.getViewport({ scale: canvasWidthOf(canvas) / sheet.getViewport({ scale: 1 }).width });
  await sheet.render({ canvas, viewport }).promise;
}
