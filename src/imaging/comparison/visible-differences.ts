import { diff } from '@blazediff/core';
import type { Box } from '../../capture/comparison/comparison.ts';
import { MIN_SIDE, recolouredAreas } from './recoloured-areas.ts';
import { recolouredLines } from './recoloured-lines.ts';

/** Maximum difference of single pixels that counts as equal, 0 to 1, as Playwright's comparator has it. */
const THRESHOLD = 0.1;
/** Rows around a strip of pixels that tell whether one of them is anti-aliased, or in an area of one colour. */
export const CONTEXT = MIN_SIDE - 1;

export interface Differences {
  /** The low byte is not 0 where people see a difference. */
  readonly mask: Uint32Array;
  readonly count: number;
}

/** Two images of the same size. */
interface ComparedPixels {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly width: number;
  /** Whether neither was compressed with losses. */
  readonly isExact: boolean;
}

/**
 * Finds where two images look different: single pixels that differ much, without those of anti-aliasing, and areas and
 * lines of one colour whose colour changed noticeably. `part`: the part to compare; the pixels around it show how the
 * lines at its edges are drawn. `mask`: zeros, for the part. Overwrites the images.
 */
export function visibleDifferences(
  images: ComparedPixels,
  part: Box,
  mask: Uint32Array = new Uint32Array(part.width * part.height),
): Differences {
  if (Buffer.compare(bytesOf(images.a), bytesOf(images.b)) === 0) return { mask, count: 0 };
  const lines = images.isExact ? recolouredLines(images.a, images.b, images.width) : null;
  const [a, b] = [cutTo(part, images.a, images.width), cutTo(part, images.b, images.width)];
  // Red is the low byte. Anti-aliased pixels are black.
  const options = { threshold: THRESHOLD, diffMask: true, aaColor: [0, 0, 0] as [number, number, number] };
  let count = diff(bytesOf(a), bytesOf(b), bytesOf(mask), part.width, part.height, options);
  const note = (at: number) => {
    if (((mask[at] ?? 0) & 0xff) !== 0) return;
    mask[at] = 0xff;
    count += 1;
  };
  recolouredAreas(a, b, part.width, note);
  if (lines?.includes(1) === true) noteLines(lines, images.width, part, note);
  return { mask, count };
}

/** Calls `note` with the index in a part of each pixel in a line. */
function noteLines(lines: Uint8Array, width: number, part: Box, note: (at: number) => void): void {
  for (let y = 0; y < part.height; y += 1) {
    const [from, to] = [(part.y + y) * width + part.x, y * part.width];
    for (let x = 0; x < part.width; x += 1) if (lines[from + x] === 1) note(to + x);
  }
}

/** Moves a part of an image to its beginning. */
function cutTo(part: Box, image: Uint32Array, width: number): Uint32Array {
  for (let row = 0; row < part.height; row += 1) {
    const start = (part.y + row) * width + part.x;
    image.copyWithin(row * part.width, start, start + part.width);
  }
  return image.subarray(0, part.width * part.height);
}

/** Whether two images look different in at most so many pixels. */
export function lookAlike(images: ComparedPixels, max: number): boolean {
  const { a, b, width } = images;
  const height = a.length / width;
  // Most pairs fail here, in a third of the time.
  if (diff(bytesOf(a), bytesOf(b), undefined, width, height, { threshold: THRESHOLD }) > max) return false;
  return visibleDifferences(images, { x: 0, y: 0, width, height }).count <= max;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
