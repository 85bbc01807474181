import sharp from 'sharp';
import { expect } from 'vitest';

/** Reads an image in two ranges: its bytes, and its width and height. `call` requests the image. */
export async function inRanges(
  call: (init: RequestInit) => Promise<Response>,
): Promise<{ readonly image: Buffer; readonly size: readonly number[] }> {
  const read = async (range: string) => {
    const part = await call({ headers: { Range: `bytes=${range}` } });
    expect(part.status).toBe(206);
    return Buffer.from(await part.arrayBuffer());
  };
  const image = Buffer.concat([await read('0-9999'), await read('10000-')]);
  const { width, height } = await sharp(image, { limitInputPixels: false }).metadata();
  return { image, size: [width, height] };
}
