import type { Sharp } from 'sharp';
import type { ImageFormat } from '../../capture/artifacts/formats.ts';
import { inTurn } from '../../imaging/in-turn.ts';
import { loadSharp, MAX_INPUT_PIXELS } from '../../imaging/load-sharp.ts';
import type { Encoding } from './shot-plan.ts';

const ENCODERS: Readonly<Record<ImageFormat, (image: Sharp, quality: number) => Sharp>> = {
  png: encodePng,
  jpeg: (image, quality) => image.jpeg({ quality }),
  webp: (image, quality) => image.webp({ quality, effort: 1 }),
};

export function encode(image: Sharp, { format, quality, isTransparent }: Encoding): Sharp {
  return ENCODERS[format](isTransparent ? image : image.removeAlpha(), quality);
}

/** Encodes without loss. A higher level takes several times as long. */
export function encodePng(image: Sharp): Sharp {
  return image.png({ compressionLevel: 1 });
}

/**
 * Joins images of equal width below each other, from these rows on. `width` and `height` are those of the result.
 * Images of the same height (the last may be lower) are decoded row by row as the result is encoded. Measured: 168
 * megapixels take 10 MB beyond the files themselves.
 */
export async function joinImages(
  images: readonly Buffer[],
  { width, height, tops }: { readonly width: number; readonly height: number; readonly tops: readonly number[] },
  encoding: Encoding,
): Promise<Buffer> {
  const sharp = await loadSharp();
  const options = { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true };
  const [first, ...more] = images;
  // Joining makes all images as high as the highest.
  const [, second = 0] = tops;
  const isLastHigher = more.length > 0 && height - (tops.at(-1) ?? 0) > second;
  if (isLastHigher || tops.some((top, at) => top !== at * second)) {
    const background = { r: 0, g: 0, b: 0, alpha: 0 };
    const canvas = sharp({ create: { width, height, channels: 4, background }, limitInputPixels: MAX_INPUT_PIXELS });
    const layers = images.map((input, at) => ({
      input,
      left: 0,
      top: tops[at] ?? 0,
      limitInputPixels: MAX_INPUT_PIXELS,
    }));
    return inTurn(() => encode(canvas.composite(layers), encoding).toBuffer());
  }
  const joined = more.length === 0 ? sharp(first, options) : sharp([...images], { ...options, join: { across: 1 } });
  return inTurn(() => encode(joined.extract({ left: 0, top: 0, width, height }), encoding).toBuffer());
}
