import { inTurn } from './in-turn.ts';
import { loadSharp, MAX_INPUT_PIXELS } from './load-sharp.ts';

/** Nine shades per row give eight differences between neighbours. */
const COLUMNS = 9;
const ROWS = 8;
/** A smaller image is read in milliseconds, and does not wait for others. */
const MIN_BYTES_IN_TURN = 4 * 1024 * 1024;

/**
 * Returns the 64-bit difference hash of a screenshot (PNG, JPEG or WebP) as 16 hex digits. The image is scaled to 9 by
 * 8 shades of grey; each bit says whether a shade is brighter than the one on its left, row by row from the upper left.
 * Transparency counts as white. Hashes of visually similar images differ in few bits, whatever the size and format.
 * Rejects when the bytes are not an image.
 */
export async function perceptionHash(image: Uint8Array): Promise<string> {
  const sharp = await loadSharp();
  const scaled = sharp(image, { limitInputPixels: MAX_INPUT_PIXELS, sequentialRead: true })
    .flatten({ background: 'white' })
    .greyscale()
    .resize(COLUMNS, ROWS, { fit: 'fill' })
    .raw();
  const shades = await (image.byteLength < MIN_BYTES_IN_TURN ? scaled.toBuffer() : inTurn(() => scaled.toBuffer()));
  const rows = Array.from({ length: ROWS }, (_, row) => shades.subarray(row * COLUMNS, (row + 1) * COLUMNS));
  return rows.map((row) => hex(row.reduce(differences, 0) & 0xff)).join('');
}

/** Appends a bit: whether this shade is brighter than its left neighbour. The bit of the first shade is shifted out. */
function differences(bits: number, shade: number, at: number, row: Uint8Array): number {
  return (bits << 1) | Number(shade > (row[at - 1] ?? shade));
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
