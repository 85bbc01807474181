import { FORMATS } from '../../capture/artifacts/formats.ts';
import { inTurn } from '../../imaging/in-turn.ts';
import { loadSharp, MAX_INPUT_PIXELS } from '../../imaging/load-sharp.ts';
import { encode } from './encode-image.ts';
import type { Screenshot } from './screenshot.ts';
import type { ShotPlan } from './shot-plan.ts';

/**
 * Scales a PNG down until it fits within `resize`, and encodes it in its final format. It is decoded row by row, on a
 * thread of libuv. A screenshot that needs neither stays as it is.
 */
export async function resizeImage(
  screenshot: Screenshot,
  { shown, resize, taken, final }: ShotPlan,
): Promise<Screenshot> {
  if (shown.what === 'sheets' || (resize === undefined && taken.format === final.format)) return screenshot;
  const { width = Number.POSITIVE_INFINITY, height = Number.POSITIVE_INFINITY } = resize ?? {};
  const scale = Math.min(1, width / screenshot.width, height / screenshot.height);
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  const size = { width: scaled(screenshot.width), height: scaled(screenshot.height) };
  const rows = Math.min(size.height, FORMATS[final.format].maxRows);
  const sharp = await loadSharp();
  const scaledImage = sharp(screenshot.image, { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true })
    .resize({ ...size, fit: 'fill' })
    .extract({ left: 0, top: 0, width: size.width, height: rows });
  return {
    ...screenshot,
    image: await inTurn(() => encode(scaledImage, final).toBuffer()),
    width: size.width,
    height: rows,
    fullHeight: screenshot.fullHeight === 0 ? 0 : scaled(screenshot.fullHeight),
    truncatedBy: rows < size.height ? 'format' : screenshot.truncatedBy,
  };
}
