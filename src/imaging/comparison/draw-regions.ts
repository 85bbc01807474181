import type { Box, Region, RegionKind } from '../../capture/comparison/comparison.ts';
import { loadSharp } from '../load-sharp.ts';
import type { File } from './compared.ts';
import type { Pixels } from './pixels.ts';

/** Space between both images, in pixels. */
const GAP = 16;
const COLOURS: Readonly<Record<RegionKind, string>> = {
  inserted: '#1a7f37',
  removed: '#cf222e',
  moved: '#0969da',
  edited: '#bc4c00',
};

/** Draws two images beside each other, with each region in both of its places. Returns a PNG. */
export async function drawRegions(a: Pixels, b: Pixels, regions: readonly Region[]): Promise<File> {
  const sharp = await loadSharp();
  const size = { width: a.width + GAP + b.width, height: Math.max(a.height, b.height) };
  const marks = regions.flatMap(({ kind, from, to }) => [
    ...(from === null ? [] : [markOf(kind, from, 0)]),
    ...(to === null ? [] : [markOf(kind, to, a.width + GAP)]),
  ]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${marks.join('')}</svg>`;
  const { data } = await sharp({ create: { ...size, channels: 3, background: '#888' }, limitInputPixels: false })
    .composite([
      { ...layerOf(a), left: 0, top: 0 },
      { ...layerOf(b), left: a.width + GAP, top: 0 },
      { input: Buffer.from(svg), left: 0, top: 0 },
    ])
    .png({ compressionLevel: 3 })
    .toBuffer({ resolveWithObject: true });
  return new Uint8Array(data);
}

function layerOf({ rows: { source }, width, height }: Pixels) {
  if (typeof source === 'string') return { input: source, limitInputPixels: false };
  const input = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  return { input, raw: { width, height, channels: 4 as const }, limitInputPixels: false };
}

function markOf(kind: RegionKind, { x, y, width, height }: Box, left: number): string {
  const place = `x="${x + left}" y="${y}" width="${width}" height="${height}"`;
  return `<rect ${place} fill="${COLOURS[kind]}" fill-opacity="0.2" stroke="${COLOURS[kind]}" stroke-width="2"/>`;
}
