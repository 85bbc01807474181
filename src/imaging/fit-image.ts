import { inTurn } from './in-turn.ts';
import { loadSharp, MAX_INPUT_PIXELS } from './load-sharp.ts';

interface FittingImage {
  readonly bytes: Buffer;
  readonly mediaType: 'image/png' | 'image/jpeg';
}

const JPEG_QUALITY = 80;
/** Text is still read at half the size. Each step has half the pixels of the one before. */
const STEP = Math.SQRT1_2;
const MAX_STEPS = 6;
const TIMEOUT_S = 60;

/**
 * Returns an image (PNG, JPEG or WebP) as a PNG or JPEG of at most `maxBytes`, with at most `maxSide` pixels on each
 * side. A PNG or JPEG that fits is returned unchanged. Null when the bytes are no image, or no step makes it fit.
 */
export function fitImage(
  image: Buffer,
  { maxBytes, maxSide }: { readonly maxBytes: number; readonly maxSide: number },
): Promise<FittingImage | null> {
  return inTurn(async () => {
    const sharp = await loadSharp();
    const options = { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true };
    const about = await sharp(image, options)
      .metadata()
      .catch(() => null);
    if (about === null) return null;
    const { format, width, height } = about;
    const largest = Math.max(width, height);
    if ((format === 'png' || format === 'jpeg') && image.length <= maxBytes && largest <= maxSide) {
      return { bytes: image, mediaType: format === 'png' ? 'image/png' : 'image/jpeg' };
    }
    let side = Math.min(largest, maxSide);
    for (let step = 0; step < MAX_STEPS; step += 1, side = Math.max(1, Math.floor(side * STEP))) {
      const bytes = await sharp(image, options)
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
        .flatten({ background: 'white' })
        .jpeg({ quality: JPEG_QUALITY })
        .timeout({ seconds: TIMEOUT_S })
        .toBuffer();
      if (bytes.length <= maxBytes) return { bytes, mediaType: 'image/jpeg' };
    }
    return null;
  });
}
