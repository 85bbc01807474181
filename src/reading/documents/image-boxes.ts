import { z } from 'zod';
import { intersection } from '../../capture/comparison/boxes.ts';
import type { Rectangle } from '../../capture/options/screenshot.ts';
import type { ImagePlace } from '../../page-scripts/elements/place.ts';
import type { Reading } from './reading.ts';

/** A rectangle in CSS pixels of the page's window, as scripts of outputs return it; null when there is none. */
export const windowBox = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).nullable();

/** Returns where in the image a rectangle of the window is, in whole pixels; null when the image does not show it. */
export type ToImage = (box: z.output<typeof windowBox>) => Rectangle | null;

/** Resolves with where the image is in the window; null for a PDF. */
export async function imagePlace({
  page,
  request,
  screenshot,
}: Pick<Reading, 'page' | 'request' | 'screenshot'>): Promise<ImagePlace | null> {
  if (request.format === 'pdf') return null;
  const { part, width, height } = screenshot;
  const { viewport } = request;
  // Only a phone's visual viewport differs from its layout viewport.
  if (part === null && !viewport.mobile) return { left: 0, top: 0, scale: width / viewport.width, width, height };
  const { cssLayoutViewport, cssVisualViewport } = await page.session.send('Page.getLayoutMetrics');
  // An image of the window shows the visual viewport, which is smaller or larger than the layout on phones.
  return {
    left: part === null ? cssVisualViewport.offsetX : part.x - cssLayoutViewport.pageX,
    top: part === null ? cssVisualViewport.offsetY : part.y - cssLayoutViewport.pageY,
    scale: width / (part === null ? cssVisualViewport.clientWidth : part.width),
    width,
    height,
  };
}

/** Resolves with the function that converts boxes of the page to boxes of the image. In a PDF it returns null. */
export async function imageBoxes(reading: Reading): Promise<ToImage> {
  const frame = await imagePlace(reading);
  if (frame === null) return () => null;
  const { left, top, scale } = frame;
  return (box) => {
    if (box === null) return null;
    const [x, y] = [Math.round((box.x - left) * scale), Math.round((box.y - top) * scale)];
    const width = Math.max(1, Math.round((box.x + box.width - left) * scale) - x);
    const height = Math.max(1, Math.round((box.y + box.height - top) * scale) - y);
    return intersection({ x, y, width, height }, { x: 0, y: 0, width: frame.width, height: frame.height });
  };
}
