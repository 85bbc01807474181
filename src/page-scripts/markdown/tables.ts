import {
  append,
  attribute,
  childrenOf,
  cloneOf,
  closest,
  createElement,
  documentOf,
  insertBefore,
  nameOf,
  nodesOf,
  type PageElement,
  parentElementOf,
  remove,
  replaceChildren,
  select,
  textOf,
} from '../dom/dom.ts';

/** Maximum number of columns of a table, and of its places; a larger table stays as it is. */
const MAX_COLUMNS = 200;
const MAX_PLACES = 50_000;

/** A cell at one of its places: `isFirst` in the first of its columns. */
interface Place {
  readonly cell: PageElement;
  readonly isFirst: boolean;
}

type Grid = readonly (readonly (Place | undefined)[])[];

/**
 * Gives each row of a table one cell for each column, and the table one head row, as Markdown has it: the value of a
 * cell of several rows is in each of them, and the labels of several head rows are joined.
 */
export function straighten(table: PageElement): void {
  moveFoot(table);
  moveCaption(table);
  const rows = select(table, 'tr').filter((row) => closest(row, 'table') === table);
  const grid = gridOf(rows);
  const columns = Math.max(0, ...grid.map((row) => row.length));
  if (grid.length < rows.length || columns * rows.length > MAX_PLACES) return;
  const heads = headRows(rows);
  const labels = Array.from({ length: columns }, (_, column) => labelOf(grid, heads, column));
  const cells = grid.map((row) => Array.from({ length: columns }, (_, column) => cellAt(row[column], table)));
  for (const [at, row] of rows.entries()) {
    if (at > 0 && at < heads) remove(row);
    else replaceChildren(row, ...(at < heads ? labels.map((label) => headCell(label, table)) : (cells[at] ?? [])));
  }
}

/** A foot is drawn below all other rows, wherever the HTML has it. */
function moveFoot(table: PageElement): void {
  const foot = childrenOf(table).find((part) => nameOf(part) === 'tfoot');
  if (foot !== undefined) append(table, foot);
}

/** Turndown finds no head row in a table with a caption. */
function moveCaption(table: PageElement): void {
  const caption = childrenOf(table).find((part) => nameOf(part) === 'caption');
  if (caption === undefined) return;
  const above = createElement(documentOf(table), 'p');
  append(above, ...nodesOf(caption));
  remove(caption);
  insertBefore(table, above);
}

/** Returns the places of the rows; fewer rows when the table has too many places. */
function gridOf(rows: readonly PageElement[]): Grid {
  const grid: (Place | undefined)[][] = rows.map(() => []);
  let places = 0;
  for (const [at, row] of rows.entries()) {
    const last = lastOfGroup(rows, at);
    let column = 0;
    for (const cell of childrenOf(row)) {
      if (!/^t[dh]$/.test(nameOf(cell))) continue;
      while (grid[at]?.[column] !== undefined) column += 1;
      const across = spanOf(cell, 'colspan', MAX_COLUMNS - column);
      const down = spanOf(cell, 'rowspan', last + 1 - at);
      places += across * down;
      if (places > MAX_PLACES) return [];
      for (let y = at; y < at + down; y += 1) {
        for (let x = column; x < column + across; x += 1) {
          const line = grid[y];
          if (line !== undefined) line[x] ??= { cell, isFirst: x === column };
        }
      }
      column += across;
    }
  }
  return grid;
}

/** Returns the number of the last row of a row's part of the table, at whose end all cells end. */
function lastOfGroup(rows: readonly PageElement[], at: number): number {
  const group = (row: PageElement | undefined) => (row === undefined ? null : parentElementOf(row));
  let last = at;
  while (last + 1 < rows.length && group(rows[last + 1]) === group(rows[at])) last += 1;
  return last;
}

/** A span of 0 reaches the end. */
function spanOf(cell: PageElement, name: string, most: number): number {
  const written = Number.parseInt(attribute(cell, name) ?? '', 10);
  if (written === 0 && name === 'rowspan') return Math.max(1, most);
  return Math.max(1, Math.min(written || 1, most));
}

/** Returns how many rows are the head: those of `thead`, or the first rows of nothing but `th`. */
function headRows(rows: readonly PageElement[]): number {
  const isInHead = (row: PageElement) => nameOf(parentElementOf(row) ?? row) === 'thead';
  const isOfLabels = (row: PageElement) => childrenOf(row).every((cell) => nameOf(cell) === 'th');
  const isHead = rows[0] !== undefined && isInHead(rows[0]) ? isInHead : isOfLabels;
  const first = rows.findIndex((row) => !isHead(row));
  return first === -1 ? Math.min(1, rows.length) : first;
}

/** Returns the cells above a column, each once. */
function labelOf(grid: Grid, heads: number, column: number): readonly PageElement[] {
  const above = grid.slice(0, heads).flatMap((row) => row[column]?.cell ?? []);
  return [...new Set(above)].filter((cell) => textOf(cell).trim() !== '');
}

function headCell(labels: readonly PageElement[], table: PageElement): PageElement {
  const head = createElement(documentOf(table), 'th');
  for (const [at, label] of labels.entries()) append(head, ...(at > 0 ? [' '] : []), ...contentOf(label));
  return head;
}

/** Returns a cell with the content of a place; an empty one beside the first column of a wide cell. */
function cellAt(place: Place | undefined, table: PageElement): PageElement {
  const made = createElement(documentOf(table), 'td');
  if (place?.isFirst === true) append(made, ...contentOf(place.cell));
  return made;
}

const contentOf = (cell: PageElement) => nodesOf(cell).map((node) => cloneOf(node, true));
