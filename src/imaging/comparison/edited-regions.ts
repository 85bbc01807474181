import { diff } from '@blazediff/core';
import type { Region } from '../../capture/comparison.ts';
import { isIn } from './outside.ts';
import { type Part, rowOf, rowsOf } from './pixels.ts';

/** Largest difference of colours that counts as equal, 0 to 1, as Playwright's comparator has it. */
const THRESHOLD = 0.1;
/** Rows compared at once, which bounds the memory of a comparison. */
const STRIP = 512;
/** Rows around a strip that tell whether a pixel of it is anti-aliased. */
const CONTEXT = 2;
/** Side of the cells in which changed pixels are joined. Words of a line are closer than two of them. */
const CELL = 16;

interface Cell {
  left: number;
  top: number;
  right: number;
  bottom: number;
  pixels: number;
}

/** Returns the regions in which two parts of the same size differ. Differences by anti-aliasing are left out. */
export function editedRegions(a: Part, b: Part): readonly Region[] {
  const columns = Math.ceil(a.width / CELL);
  const cells = new Map<number, Cell>();
  for (let from = 0; from < a.height; from += STRIP) {
    const to = Math.min(from + STRIP, a.height);
    noteStrip(a, b, { from, to }, (x, y) => {
      if (isIn(a.image.ignored, a.x + x, a.y + y) || isIn(b.image.ignored, b.x + x, b.y + y)) return;
      const at = Math.floor(y / CELL) * columns + Math.floor(x / CELL);
      const cell = cells.get(at);
      if (cell === undefined) cells.set(at, { left: x, top: y, right: x + 1, bottom: y + 1, pixels: 1 });
      else join(cell, { left: x, top: y, right: x + 1, bottom: y + 1, pixels: 1 });
    });
  }
  return groups(cells, columns).map(({ left, top, right, bottom, pixels }) => {
    const size = { width: right - left, height: bottom - top };
    return {
      kind: 'edited',
      from: { x: a.x + left, y: a.y + top, ...size },
      to: { x: b.x + left, y: b.y + top, ...size },
      pixels,
    };
  });
}

function noteStrip(
  a: Part,
  b: Part,
  { from, to }: { readonly from: number; readonly to: number },
  note: (x: number, y: number) => void,
): void {
  const top = Math.max(0, from - CONTEXT);
  const bottom = Math.min(a.height, to + CONTEXT);
  const [ofA, ofB] = [copyOf(rowsOf(a, top, bottom)), copyOf(rowsOf(b, top, bottom))];
  const mask = new Uint32Array(a.width * (bottom - top));
  diff(ofA, ofB, new Uint8Array(mask.buffer), a.width, bottom - top, {
    threshold: THRESHOLD,
    diffMask: true,
    aaColor: [0, 0, 0],
  });
  for (let y = from; y < to; y += 1) {
    for (let x = 0; x < a.width; x += 1) {
      // Red: the low byte. Anti-aliased pixels are black.
      if (((mask[(y - top) * a.width + x] ?? 0) & 0xff) !== 0) note(x, y);
    }
  }
}

function copyOf(part: Part): Uint8Array {
  const copy = new Uint32Array(part.width * part.height);
  for (let row = 0; row < part.height; row += 1) copy.set(rowOf(part, row), row * part.width);
  return new Uint8Array(copy.buffer);
}

function join(cell: Cell, other: Cell): void {
  cell.left = Math.min(cell.left, other.left);
  cell.top = Math.min(cell.top, other.top);
  cell.right = Math.max(cell.right, other.right);
  cell.bottom = Math.max(cell.bottom, other.bottom);
  cell.pixels += other.pixels;
}

/** Joins cells that touch each other, also at corners. */
function groups(cells: Map<number, Cell>, columns: number): readonly Cell[] {
  const found: Cell[] = [];
  for (const [first, cell] of cells) {
    if (!cells.delete(first)) continue;
    const open = [first];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const next of neighbours(at, columns)) {
        const other = cells.get(next);
        if (other === undefined) continue;
        cells.delete(next);
        join(cell, other);
        open.push(next);
      }
    }
    found.push(cell);
  }
  return found;
}

function neighbours(at: number, columns: number): readonly number[] {
  const column = at % columns;
  return [-columns, 0, columns].flatMap((row) =>
    [-1, 0, 1].filter((step) => column + step >= 0 && column + step < columns).map((step) => at + row + step),
  );
}
