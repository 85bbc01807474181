import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { joinImages } from '../../src/page/screenshot/encode-image.ts';

describe('images in turn', () => {
  it('leaves a thread for files while bands of many captures are joined', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const size = { width: 1200, height: 1200 };
    const band = await sharp({ create: { ...size, channels: 3, background: 'white', noise } })
      .png({ compressionLevel: 1 })
      .toBuffer();
    const encoding = { format: 'png', quality: 80, isTransparent: false } as const;
    let joined = 0;
    const joins = Array.from({ length: 12 }, async () => {
      await joinImages([band, band], { width: 1200, height: 2400, tops: [0, 1200] }, encoding);
      joined += 1;
    });
    await readFile(import.meta.filename);
    const before = joined;
    await Promise.all(joins);
    // A file that waited for a thread would have been read when nine of the twelve were joined.
    expect(before).toBeLessThan(6);
  });
});
