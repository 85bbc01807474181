import { MAX_ENCODED_SIDE, type Thumbnail } from '../capture/artifacts/thumbnail.ts';
import { loadSharp, MAX_INPUT_PIXELS } from './load-sharp.ts';

/** Higher efforts take seconds. Measured: 4 takes 5 times as long for 10 % fewer bytes. */
const AVIF_EFFORT = 2;
const TIMEOUT_S = 60;

/** Makes a thumbnail of a screenshot (PNG, JPEG or WebP). Rejects when the bytes are not an image. */
export async function renderThumbnail(image: Uint8Array, wanted: Thumbnail): Promise<Buffer> {
  const { width, height, format, quality } = wanted;
  const sharp = await loadSharp();
  const isFilled = width !== undefined && height !== undefined;
  const scaled = sharp(image, { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true })
    .resize({
      width: width ?? MAX_ENCODED_SIDE,
      height: height ?? MAX_ENCODED_SIDE,
      fit: isFilled ? 'cover' : 'inside',
      position: 'left top',
      withoutEnlargement: true,
    })
    .timeout({ seconds: TIMEOUT_S });
  // JPEG does not support transparency.
  const opaque = format === 'jpeg' ? scaled.flatten({ background: 'white' }) : scaled;
  switch (format) {
    case 'webp':
      return opaque.webp({ quality }).toBuffer();
    case 'png':
      return opaque.png().toBuffer();
    case 'jpeg':
      // Optimised tables, for 3 % fewer bytes, would hold the whole image: 86 in place of 10 MiB for 13 megapixels.
      return opaque.jpeg({ quality, optimiseCoding: false }).toBuffer();
    case 'avif':
      return opaque.avif({ quality, effort: AVIF_EFFORT, chromaSubsampling: '4:2:0' }).toBuffer();
  }
}
