import type { Region } from '../../capture/comparison.ts';
import { createCells } from './cells.ts';
import { type Part, rowOf, rowsOf } from './pixels.ts';
import { CONTEXT, visibleDifferences } from './visible-differences.ts';

/** Rows compared at once, which bounds the memory of a comparison. */
const STRIP = 512;

/** Returns the regions in which two parts of the same size differ. Differences by anti-aliasing are left out. */
export function editedRegions(a: Part, b: Part): readonly Region[] {
  const cells = createCells();
  for (let from = 0; from < a.height; from += STRIP) {
    const to = Math.min(from + STRIP, a.height);
    noteStrip(a, b, { from, to }, (x, y) => {
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
  { from, to }: { readonly from: number; readonly to: number },
  note: (x: number, y: number) => void,
): void {
  const top = Math.max(0, from - CONTEXT);
  const bottom = Math.min(a.height, to + CONTEXT);
  const { mask } = visibleDifferences(copyOf(rowsOf(a, top, bottom)), copyOf(rowsOf(b, top, bottom)), a.width);
  for (let y = from; y < to; y += 1) {
    for (let x = 0; x < a.width; x += 1) {
      if (((mask[(y - top) * a.width + x] ?? 0) & 0xff) !== 0) note(x, y);
    }
  }
}

function copyOf(part: Part): Uint32Array {
  const copy = new Uint32Array(part.width * part.height);
  for (let row = 0; row < part.height; row += 1) copy.set(rowOf(part, row), row * part.width);
  return copy;
}
