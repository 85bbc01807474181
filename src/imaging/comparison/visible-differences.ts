import { diff } from '@blazediff/core';
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

/**
 * Finds where two images of the same size look different: single pixels that differ much, without those of
 * anti-aliasing, and areas and lines of one colour that became another, by however little people notice. `isExact`: neither
 * was compressed with losses; lines are looked for only then. `mask`: zeros.
 */
export function visibleDifferences(
  a: Uint32Array,
  b: Uint32Array,
  width: number,
  isExact: boolean,
  mask: Uint32Array = new Uint32Array(a.length),
): Differences {
  // Red is the low byte. Anti-aliased pixels are black.
  const options = { threshold: THRESHOLD, diffMask: true, aaColor: [0, 0, 0] as [number, number, number] };
  let count = diff(bytesOf(a), bytesOf(b), bytesOf(mask), width, a.length / width, options);
  const note = (at: number) => {
    if (((mask[at] ?? 0) & 0xff) !== 0) return;
    mask[at] = 0xff;
    count += 1;
  };
  recolouredAreas(a, b, width, note);
  if (isExact) recolouredLines(a, b, width, note);
  return { mask, count };
}

/** Whether two images of the same size look different in at most so many pixels. */
export function lookAlike(a: Uint32Array, b: Uint32Array, width: number, isExact: boolean, max: number): boolean {
  const options = { threshold: THRESHOLD };
  // Most pairs fail here, in a third of the time.
  if (diff(bytesOf(a), bytesOf(b), undefined, width, a.length / width, options) > max) return false;
  return visibleDifferences(a, b, width, isExact).count <= max;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
