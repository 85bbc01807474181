import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import type { Box, Region } from '../../src/capture/comparison/comparison.ts';
import { drawRegions } from '../../src/imaging/comparison/draw-regions.ts';
import { Rows } from '../../src/imaging/comparison/rows.ts';
import { makeDirectory } from '../support/temporary-directory.ts';

type Colour = readonly [red: number, green: number, blue: number];
type Painting = (x: number, y: number) => Colour;

/** An image in which each pixel has a colour of its own. */
interface Image {
  readonly width: number;
  readonly height: number;
  readonly colourAt: Painting;
}

const GAP = 16;
const GREY: Colour = [0x88, 0x88, 0x88];
const COLOURS = {
  inserted: [0x1a, 0x7f, 0x37],
  removed: [0xcf, 0x22, 0x2e],
  moved: [0x09, 0x69, 0xda],
  edited: [0xbc, 0x4c, 0x00],
} as const;

const imageOf = (seed: number, width: number, height: number): Image => ({
  width,
  height,
  colourAt: (x, y) => [(x * 5 + seed) & 0xff, (y * 3 + seed) & 0xff, (x * y + seed) & 0xff],
});

/** Writes the pixels as the thread does: 4 bytes each, in a file after a header. */
async function pixelsOf({ width, height, colourAt }: Image, file: string | null) {
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1) {
    const [red, green, blue] = colourAt(at % width, Math.floor(at / width));
    pixels[at] = (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
  }
  if (file !== null) await writeFile(file, Buffer.concat([Buffer.alloc(64), Buffer.from(pixels.buffer)]));
  return { rows: new Rows(width, height, file ?? pixels), width, height, isExact: true };
}

/** The colour of each pixel of a drawing: images, background, then the marks in their order. */
function expected(a: Image, b: Image, regions: readonly Region[]): Painting {
  const left = a.width + GAP;
  return (x, y) => {
    let colour = GREY;
    if (x < a.width && y < a.height) colour = a.colourAt(x, y);
    if (x >= left && y < b.height) colour = b.colourAt(x - left, y);
    for (const { kind, from, to } of regions) {
      for (const box of [from, to && { ...to, x: to.x + left }]) {
        if (box === null || !isWithin(box, 1, x, y)) continue;
        const opacity = isWithin(box, -1, x, y) ? 0.2 : 1;
        const mix = (old: number, value: number) => Math.round(old * (1 - opacity) + value * opacity);
        const [red, green, blue] = COLOURS[kind];
        colour = [mix(colour[0], red), mix(colour[1], green), mix(colour[2], blue)];
      }
    }
    return colour;
  };
}

function isWithin(box: Box, more: number, x: number, y: number): boolean {
  const [right, bottom] = [box.x + box.width + more, box.y + box.height + more];
  return x >= box.x - more && x < right && y >= box.y - more && y < bottom;
}

/** Returns the first pixels that are not as expected. */
async function wrong(png: Uint8Array, { width, height, colourAt }: Image): Promise<readonly string[]> {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  expect(info).toMatchObject({ width, height, channels: 3 });
  const found: string[] = [];
  for (let at = 0; at < width * height && found.length < 5; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const drawn = data.subarray(3 * at, 3 * at + 3).join();
    if (drawn !== colourAt(x, y).join()) found.push(`${x},${y}: ${drawn} instead of ${colourAt(x, y).join()}`);
  }
  return found;
}

const box = (x: number, y: number, width: number, height: number): Box => ({ x, y, width, height });
const REGIONS: readonly Region[] = [
  { kind: 'inserted', from: null, to: box(0, 0, 12, 6), pixels: 1 },
  { kind: 'removed', from: box(30, 0, 10, 40), to: null, pixels: 1 },
  { kind: 'moved', from: box(2, 3, 20, 5), to: box(5, 30, 20, 5), pixels: 1 },
  { kind: 'edited', from: box(8, 20, 1, 2), to: box(25, 10, 5, 12), pixels: 1 },
];

describe('the drawing of two images', () => {
  it.each([
    ['of one size', imageOf(1, 40, 40), imageOf(90, 40, 40)],
    ['of two sizes', imageOf(1, 40, 40), imageOf(90, 30, 52)],
    ['of more rows than are compressed at once', imageOf(1, 300, 400), imageOf(90, 310, 420)],
  ])('has the pixels of both, and marks over them: %s', async (_, a, b) => {
    const directory = await makeDirectory();
    const colourAt = expected(a, b, REGIONS);
    const whole = { width: a.width + GAP + b.width, height: Math.max(a.height, b.height), colourAt };
    const draw = async (file: string | null) => {
      const [old, now] = [await pixelsOf(a, file), await pixelsOf(b, null)];
      const drawn = await drawRegions(old, now, REGIONS, join(directory, 'drawing.png'), () => {});
      old.rows.close();
      return drawn;
    };
    const [inMemory, inFile] = [await draw(null), await draw(join(directory, 'a.v'))];
    expect(inFile).toBe(join(directory, 'drawing.png'));
    expect(await wrong(Buffer.from(inMemory), whole)).toEqual([]);
    expect(await readFile(String(inFile))).toEqual(Buffer.from(inMemory));
  });
});

describe('the rows of an image', () => {
  it.each(['in memory', 'in a file'])('give their memory back when they are closed, %s', async (place) => {
    const file = place === 'in memory' ? null : join(await makeDirectory(), 'decoded.v');
    const { rows } = await pixelsOf(imageOf(7, 40, 900), file);
    const [first, last] = [rows.row(0), rows.row(899)];
    expect([first.length, last.length]).toEqual([40, 40]);
    rows.close();
    expect([first.length, last.length]).toEqual([0, 0]);
  });
});
