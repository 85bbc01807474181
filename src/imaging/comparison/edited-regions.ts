import type { Region } from '../../capture/comparison/comparison.ts';
import { createCells } from './cells.ts';
import { columnsOf, type Part, rowOf, rowsOf } from './pixels.ts';
import { CONTEXT, visibleDifferences } from './visible-differences.ts';

/** Rows compared at once, which bounds the memory of a comparison. */
const STRIP = 512;

type Buffers = Readonly<Record<'a' | 'b' | 'mask', Uint32Array>>;

/** Returns the regions in which two parts of the same size differ. Differences by anti-aliasing are left out. */
export function editedRegions(a: Part, b: Part): readonly Region[] {
  const cells = createCells();
  const length = (Math.min(a.height, STRIP) + 4 * CONTEXT) * (a.width + 2);
  // Used again for each strip: until they are collected, those of a high page take more than its images.
  const buffers = { a: new Uint32Array(length), b: new Uint32Array(length), mask: new Uint32Array(length) };
  for (let from = 0; from < a.height; from += STRIP) {
    const to = Math.min(from + STRIP, a.height);
    noteStrip(a, b, { from, to, buffers }, (x, y) => {
      if (a.image.ignored?.has(a.x + x, a.y + y) || b.image.ignored?.has(b.x + x, b.y + y)) return;
      cells.add(x, y);
    });
  }
  return cells.groups().map(({ box, pixels }) => ({
    kind: 'edited',
    from: { ...box, x: a.x + box.x, y: a.y + box.y },
    to: { ...box, x: b.x + box.x, y: b.y + box.y },
    pixels,
  }));
}

function noteStrip(
  a: Part,
  b: Part,
  { from, to, buffers }: { readonly from: number; readonly to: number; readonly buffers: Buffers },
  note: (x: number, y: number) => void,
): void {
  const [first, last] = [Math.max(0, from - CONTEXT), Math.min(a.height, to + CONTEXT)];
  const top = first - Math.min(CONTEXT, a.y + first, b.y + first);
  const bottom = last + Math.min(CONTEXT, ...[a, b].map(({ image, y }) => image.height - y - last));
  const left = Math.min(1, a.x, b.x);
  const width = left + a.width + Math.min(1, ...[a, b].map(({ image, x }) => image.width - x - a.width));
  const around = (part: Part) => columnsOf(rowsOf(part, top, bottom), -left, width - left);
  const images = {
    a: copyTo(buffers.a, around(a)),
    b: copyTo(buffers.b, around(b)),
    width,
    isExact: a.image.isExact && b.image.isExact,
  };
  const strip = { x: left, y: first - top, width: a.width, height: last - first };
  const zeros = buffers.mask.subarray(0, a.width * strip.height).fill(0);
  const { mask, count } = visibleDifferences(images, strip, zeros);
  if (count === 0) return;
  for (let y = from; y < to; y += 1) {
    for (let x = 0; x < a.width; x += 1) {
      if (((mask[(y - first) * a.width + x] ?? 0) & 0xff) !== 0) note(x, y);
    }
  }
}

function copyTo(buffer: Uint32Array, part: Part): Uint32Array {
  for (let row = 0; row < part.height; row += 1) buffer.set(rowOf(part, row), row * part.width);
  return buffer.subarray(0, part.width * part.height);
}
