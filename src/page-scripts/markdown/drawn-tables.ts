import {
  append,
  attribute,
  childrenOf,
  createElement,
  documentOf,
  nodesOf,
  type PageElement,
  replaceWith,
  select,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/* Tables that styles draw, such as `display: table`, of elements of any kind. */

/** Attribute on an element's copy that names the part of a table that the element's style draws. */
export const DRAWN_AS = 'data-drawn-as';
const PARTS: Readonly<Record<string, string>> = {
  table: 'table',
  'inline-table': 'table',
  'table-row-group': 'tbody',
  'table-header-group': 'tbody',
  'table-row': 'tr',
  'table-cell': 'td',
};

/** Returns the part of a table that an element is drawn as; undefined for none, and for a part that HTML names. */
export function drawnPart(element: PageElement, name: string): string | undefined {
  return /^(?:table|t[bdhr].*|tfoot|caption)$/.test(name) ? undefined : PARTS[web.getComputedStyle(element).display];
}

/** Makes tables of copies that are drawn as rows of cells, at least two of each. */
export function nameDrawnTables(root: PageElement): void {
  for (const drawn of select(root, `[${DRAWN_AS}=table]`)) {
    const rows = childrenOf(drawn).flatMap((part) => (isDrawnAs(part, 'tbody') ? childrenOf(part) : [part]));
    const isTable = rows.length > 1 && rows.every((row) => isDrawnAs(row, 'tr') && isOfCells(childrenOf(row)));
    if (!isTable) continue;
    for (const cell of rows.flatMap(childrenOf)) rename(cell, 'td');
    const table = createElement(documentOf(drawn), 'table');
    append(table, ...rows.map((row) => rename(row, 'tr')));
    replaceWith(drawn, table);
  }
}

const isDrawnAs = (copy: PageElement, part: string): boolean => attribute(copy, DRAWN_AS) === part;

const isOfCells = (cells: readonly PageElement[]): boolean =>
  cells.length > 1 && cells.every((cell) => isDrawnAs(cell, 'td'));

function rename(copy: PageElement, name: string): PageElement {
  const made = createElement(documentOf(copy), name);
  append(made, ...nodesOf(copy));
  replaceWith(copy, made);
  return made;
}
