import { holds } from '../../capture/comparison/boxes.ts';
import type { Box } from '../../capture/comparison/comparison.ts';
import type { IgnoredPlaces } from './ignored-places.ts';
import type { Rows } from './rows.ts';

/** A decoded image: RGBA, 4 bytes a pixel, one `Uint32` each. */
export interface Pixels {
  readonly rows: Rows;
  readonly width: number;
  readonly height: number;
  /** Whether its file was not compressed with losses. */
  readonly isExact: boolean;
  readonly ignored?: IgnoredPlaces;
}

/** A rectangle of an image. */
export interface Part extends Box {
  readonly image: Pixels;
  /** A copy of it, or of a part around it. */
  readonly copy?: Box & { readonly pixels: Uint32Array };
}

/**
 * Copies a part of an image in a file, if it is small enough: columns are read many times, and each time with the rows
 * that they are in. The copy before it is overwritten.
 */
export function inMemory(part: Part): Part {
  const pixels = part.copy === undefined ? part.image.rows.memoryFor(part.width * part.height) : null;
  if (pixels === null) return part;
  for (let row = 0; row < part.height; row += 1) pixels.set(rowOf(part, row), row * part.width);
  return { ...part, copy: { ...boxOf(part), pixels } };
}

export function rowsOf(part: Part, from: number, to: number): Part {
  return { ...part, y: part.y + from, height: to - from };
}

export function columnsOf(part: Part, from: number, to: number): Part {
  return { ...part, x: part.x + from, width: to - from };
}

/** Returns the row of a part, without copying: it is overwritten when many others have been read. */
export function rowOf({ image, copy, x, y, width }: Part, row: number): Uint32Array {
  if (copy === undefined || !holds(copy, { x, y: y + row, width, height: 1 })) return image.rows.row(y + row, x, width);
  const start = (y + row - copy.y) * copy.width + x - copy.x;
  return copy.pixels.subarray(start, start + width);
}

function isUniform(row: Uint32Array, colour: number): boolean {
  for (let at = 0; at < row.length; at += 1) if (row[at] !== colour) return false;
  return true;
}

export function boxOf({ x, y, width, height }: Part): Box {
  return { x, y, width, height };
}

/** Returns the smallest part around all pixels that do not have the colour; undefined when every pixel has it. */
export function withoutMargin(part: Part, colour: number): Part | undefined {
  let [top, bottom] = [0, part.height];
  while (top < bottom && isUniform(rowOf(part, top), colour)) top += 1;
  while (bottom > top && isUniform(rowOf(part, bottom - 1), colour)) bottom -= 1;
  if (top === bottom) return undefined;
  let [left, right] = [part.width, 0];
  for (let row = top; row < bottom; row += 1) {
    const pixels = rowOf(part, row);
    let at = 0;
    while (at < left && pixels[at] === colour) at += 1;
    left = Math.min(left, at);
    at = part.width;
    while (at > right && pixels[at - 1] === colour) at -= 1;
    right = Math.max(right, at);
  }
  return columnsOf(rowsOf(part, top, bottom), left, right);
}
