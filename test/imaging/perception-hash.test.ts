import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { perceptionHash } from '../../src/imaging/perception-hash.ts';

type Shade = (x: number, y: number) => number;

/** Creates a grey screenshot from shades: 0 is black and 255 white. */
function picture(shade: Shade, { width = 900, height = 800, alpha = 255 } = {}): Promise<Buffer> {
  const data = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      data.fill(shade(x, y), at, at + 3);
      data[at + 3] = alpha;
    }
  }
  return sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

/** Creates a screenshot of 900 by 800 pixels with columns of the given shades. */
const columns =
  (...rows: readonly (readonly number[])[]): Shade =>
  (x, y) =>
    rows[Math.floor(y / 100) % rows.length]?.[Math.floor(x / 100)] ?? 0;

describe('perception hash', () => {
  it('sets a bit for each place that is brighter than its left neighbour', async () => {
    expect(await perceptionHash(await picture((x) => x / 4))).toBe('ffffffffffffffff');
    expect(await perceptionHash(await picture((x) => 255 - x / 4))).toBe('0000000000000000');
    expect(await perceptionHash(await picture(() => 128))).toBe('0000000000000000');
    // Up, up, down, down, up, down, up, up, then reversed.
    const row = [10, 90, 170, 90, 10, 120, 20, 100, 180];
    const mirrored = row.map((shade) => 255 - shade);
    expect(await perceptionHash(await picture(columns(row, mirrored)))).toBe('cb34cb34cb34cb34');
  });

  it('treats transparent pixels as white', async () => {
    expect(await perceptionHash(await picture((x) => x / 4, { alpha: 0 }))).toBe('0000000000000000');
  });

  it('differs little for another size and format', async () => {
    const scene = await picture((x, y) => 128 + 60 * Math.sin(x / 90) + 60 * Math.cos((y + x) / 130));
    const other = await sharp(scene).resize(450, 700, { fit: 'fill' }).jpeg({ quality: 70 }).toBuffer();
    const [a, b] = [BigInt(`0x${await perceptionHash(scene)}`), BigInt(`0x${await perceptionHash(other)}`)];
    const differing = [...(a ^ b).toString(2)].filter((bit) => bit === '1').length;
    expect(differing).toBeLessThanOrEqual(3);
  });

  it('does not block the event loop', async () => {
    const large = await picture((x) => x % 256, { width: 4000, height: 4000 });
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    });
    await perceptionHash(large);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(3);
  });

  it('rejects bytes that are not an image', async () => {
    await expect(perceptionHash(Buffer.from('%PDF-1.7'))).rejects.toThrow();
  });
});
