import type { Box } from '../../capture/comparison/comparison.ts';

/** Side of the cells in which changed pixels are joined, in pixels. Words of a line are less than two cells apart. */
const CELL = 16;
/** More columns of cells than any image has. */
const COLUMNS = 2 ** 20;

interface Cell {
  left: number;
  top: number;
  right: number;
  bottom: number;
  pixels: number;
}

interface CellGroup {
  readonly box: Box;
  /** Number of changed pixels. */
  readonly pixels: number;
}

/** Joins changed pixels that are close to each other. */
export interface Cells {
  add(x: number, y: number): void;
  groups(): readonly CellGroup[];
}

export function createCells(): Cells {
  const cells = new Map<number, Cell>();
  return {
    add: (x, y) => {
      const at = Math.floor(y / CELL) * COLUMNS + Math.floor(x / CELL);
      const cell = cells.get(at);
      if (cell === undefined) cells.set(at, { left: x, top: y, right: x + 1, bottom: y + 1, pixels: 1 });
      else join(cell, { left: x, top: y, right: x + 1, bottom: y + 1, pixels: 1 });
    },
    groups: () =>
      joined(cells).map(({ left, top, right, bottom, pixels }) => ({
        box: { x: left, y: top, width: right - left, height: bottom - top },
        pixels,
      })),
  };
}

function join(cell: Cell, other: Cell): void {
  cell.left = Math.min(cell.left, other.left);
  cell.top = Math.min(cell.top, other.top);
  cell.right = Math.max(cell.right, other.right);
  cell.bottom = Math.max(cell.bottom, other.bottom);
  cell.pixels += other.pixels;
}

/** Joins cells that touch each other, also at corners. */
function joined(cells: Map<number, Cell>): readonly Cell[] {
  const found: Cell[] = [];
  for (const [first, cell] of cells) {
    if (!cells.delete(first)) continue;
    const open = [first];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const row of [-COLUMNS, 0, COLUMNS]) {
        for (const step of [-1, 0, 1]) {
          const next = at + row + step;
          const other = cells.get(next);
          if (other === undefined) continue;
          cells.delete(next);
          join(cell, other);
          open.push(next);
        }
      }
    }
    found.push(cell);
  }
  return found;
}
