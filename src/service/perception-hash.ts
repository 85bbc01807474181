/** Differences between neighbours: eight in each row, in eight rows. */
const COLUMNS = 9;
const ROWS = 8;

/**
 * The 64-bit difference hash of a screenshot (PNG, JPEG or WebP), 16 hex digits: it is scaled to 9 by 8 shades of grey,
 * and each bit says whether a shade is brighter than the one on its left, row by row from the upper left. Transparency
 * is white. Pictures that look alike differ in few bits, whatever their size and format. Rejects when the bytes are no
 * screenshot.
 *
 * sharp decodes and scales on libuv's threads; it is loaded with the first screenshot that needs it.
 */
export async function perceptionHash(picture: Uint8Array): Promise<string> {
  const sharp = await loadSharp();
  const shades = await sharp(picture)
    .flatten({ background: 'white' })
    .greyscale()
    .resize(COLUMNS, ROWS, { fit: 'fill' })
    .raw()
    .toBuffer();
  const rows = Array.from({ length: ROWS }, (_, row) => shades.subarray(row * COLUMNS, (row + 1) * COLUMNS));
  return rows.map((row) => hex(row.reduce(differences, 0) & 0xff)).join('');
}

/** A bit more: whether this shade is brighter than the one before it. The first one's is shifted out. */
function differences(bits: number, shade: number, at: number, row: Uint8Array): number {
  return (bits << 1) | Number(shade > (row[at - 1] ?? shade));
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

async function loadSharp() {
  const { default: sharp } = await import('sharp');
  // Captures run side by side already, and no screenshot comes twice.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}
