import { canvasHeightOf, canvasWidthOf, type PageElement, page, select } from '../dom/dom.ts';
import { web } from '../dom/web.ts';
import { isShown } from './shown.ts';

/** Maximum number of pixels of a canvas that are compared. Larger canvases are scaled down. */
const MAX_SAMPLE_PIXELS = 512 * 512;

/** Returns a function that returns whether a canvas in the window was drawn to since the last call. */
export function canvasWatch(): () => boolean {
  const samples = new WeakMap<PageElement, Uint32Array>();
  const isDrawn = (canvas: PageElement): boolean => {
    if (!isShown(canvas)) return false;
    try {
      const before = samples.get(canvas);
      const now = sampleOf(canvas);
      samples.set(canvas, now);
      return before !== undefined && (before.length !== now.length || before.some((pixel, at) => pixel !== now[at]));
    } catch {
      // A canvas without pixels, or one that holds an image of another origin, cannot be read.
      return false;
    }
  };
  const areDrawn = () => select(page, 'canvas').map(isDrawn).includes(true);
  areDrawn();
  return areDrawn;
}

function sampleOf(canvas: PageElement): Uint32Array {
  const [width, height] = [canvasWidthOf(canvas), canvasHeightOf(canvas)];
  const scale = Math.min(1, Math.sqrt(MAX_SAMPLE_PIXELS / Math.max(1, width * height)));
  const [across, down] = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
  const context = new web.OffscreenCanvas(across, down).getContext('2d', { willReadFrequently: true });
  context.imageSmoothingQuality = 'medium';
  context.drawImage(canvas, 0, 0, across, down);
  return new Uint32Array(context.getImageData(0, 0, across, down).data.buffer);
}
