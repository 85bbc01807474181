import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { errorText } from '../../capture/basics/error-text.ts';
import type { Box, Region, RegionKind } from '../../capture/comparison/comparison.ts';
import type { File } from './compared.ts';
import type { Pixels } from './pixels.ts';
import { refuseLowDisk } from './refuse-low-disk.ts';
import { writePng } from './write-png.ts';

type Colour = readonly [red: number, green: number, blue: number];

interface Mark extends Box {
  readonly colour: Colour;
}

/** Space between both images, in pixels. */
const GAP = 16;
const BACKGROUND = 0x88;
/** Opacity of the fill of a mark. */
const OPACITY = 0.2;
const COLOURS: Readonly<Record<RegionKind, Colour>> = {
  inserted: [0x1a, 0x7f, 0x37],
  removed: [0xcf, 0x22, 0x2e],
  moved: [0x09, 0x69, 0xda],
  edited: [0xbc, 0x4c, 0x00],
};

/**
 * Draws two images beside each other, with each region in both of its places. Returns the PNG. If an image is in a
 * file, writes the PNG to `file` and returns that path; `note` is called with the reason when this fails, and the PNG
 * is in memory.
 */
export async function drawRegions(
  a: Pixels,
  b: Pixels,
  regions: readonly Region[],
  file: string | null,
  note: (inMemory: string) => void,
): Promise<File | string> {
  const leftOfB = a.width + GAP;
  const size = { width: leftOfB + b.width, height: Math.max(a.height, b.height) };
  const marks = regions.flatMap(({ kind, from, to }): readonly Mark[] => [
    ...(from === null ? [] : [{ ...from, colour: COLOURS[kind] }]),
    ...(to === null ? [] : [{ ...to, x: to.x + leftOfB, colour: COLOURS[kind] }]),
  ]);
  const paint = (row: Buffer, y: number) => {
    row.fill(BACKGROUND);
    paintImage(row, 0, a, y);
    paintImage(row, leftOfB, b, y);
    for (const mark of marks) paintMark(row, mark, y);
  };
  if (file !== null && [a, b].some(({ rows }) => typeof rows.source === 'string')) {
    try {
      // The background around images of different shapes takes almost nothing.
      await refuseLowDisk(file, 3 * (a.width * a.height + b.width * b.height));
      await writeInto(file, (write) => writePng(size, paint, write));
      return file;
    } catch (error) {
      note(errorText(error));
    }
  }
  const pieces: Buffer[] = [];
  await writePng(size, paint, (piece) => pieces.push(piece));
  return new Uint8Array(Buffer.concat(pieces));
}

/** Rejects, and leaves no file, when it cannot be written. */
async function writeInto(file: string, make: (write: (piece: Buffer) => void) => Promise<void>): Promise<void> {
  const opened = openSync(file, 'w');
  try {
    await make((piece) => writeFileSync(opened, piece));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(opened);
  }
}

function paintImage(row: Buffer, left: number, { rows, width, height }: Pixels, y: number): void {
  if (y >= height) return;
  const pixels = rows.row(y);
  for (let x = 0; x < width; x += 1) {
    const pixel = pixels[x] ?? 0;
    const at = 3 * (left + x);
    row[at] = pixel & 0xff;
    row[at + 1] = (pixel >>> 8) & 0xff;
    row[at + 2] = (pixel >>> 16) & 0xff;
  }
}

/** Paints a row of a mark: half of its border, which is 2 pixels wide, is outside of the region. */
function paintMark(row: Buffer, { x: left, y: top, width, height, colour }: Mark, y: number): void {
  if (y < top - 1 || y > top + height) return;
  const isBorder = y <= top || y >= top + height - 1;
  const [right, end] = [left + width, Math.min(left + width + 1, row.length / 3)];
  const [red, green, blue] = colour;
  for (let x = Math.max(0, left - 1); x < end; x += 1) {
    const part = isBorder || x <= left || x >= right - 1 ? 1 : OPACITY;
    mix(row, 3 * x, red, part);
    mix(row, 3 * x + 1, green, part);
    mix(row, 3 * x + 2, blue, part);
  }
}

function mix(row: Buffer, at: number, value: number, part: number): void {
  const old = row[at] ?? 0;
  row[at] = old + (value - old) * part + 0.5;
}
