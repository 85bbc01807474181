import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { isOneColour } from '../../src/page/screenshot/is-one-colour.ts';

/** An image of one colour, with a dot of another one in the row `dot`. */
function image(height: number, format: 'png' | 'jpeg' | 'webp', dot?: number): Promise<Buffer> {
  const [width, background] = [64, '#0b4f6c'];
  const flat = sharp({ create: { width, height, channels: 3, background } });
  const input = { create: { width: 8, height: 8, channels: 3, background: '#fff' } } as const;
  return (dot === undefined ? flat : flat.composite([{ input, left: 40, top: dot }])).toFormat(format).toBuffer();
}

describe('isOneColour', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('finds a dot in any row of a %s', async (format) => {
    for (const height of [100, 3000, 6000]) {
      expect(await isOneColour(await image(height, format))).toBe(true);
      expect(await isOneColour(await image(height, format, 0))).toBe(false);
      expect(await isOneColour(await image(height, format, height - 8))).toBe(false);
    }
  });
});
