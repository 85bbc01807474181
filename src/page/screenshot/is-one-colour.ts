/** Numbers of rows at the top that are compared before the whole image: most images have two colours there. */
const FIRST_ROWS = [256, 4096];

/**
 * Returns whether an image has the same colour everywhere. Measured: 5 ms of CPU for the first rows of an image, 370 ms
 * for all of 1280 x 8000.
 */
export async function isOneColour(image: Uint8Array): Promise<boolean> {
  const { default: sharp } = await import('sharp');
  const { width, height } = await sharp(image).metadata();
  for (const rows of FIRST_ROWS) {
    const region = { left: 0, top: 0, width, height: Math.min(rows, height) };
    const top = sharp(image, { sequentialRead: true }).extract(region).raw();
    const { data, info } = await top.toBuffer({ resolveWithObject: true });
    // True when each pixel equals the one before it.
    if (!data.subarray(info.channels).equals(data.subarray(0, -info.channels))) return false;
    if (rows >= height) return true;
  }
  const { channels } = await sharp(image).stats();
  return channels.every(({ min, max }) => min === max);
}
