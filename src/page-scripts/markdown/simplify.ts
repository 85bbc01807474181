import {
  append,
  attribute,
  childrenOf,
  classOf,
  closest,
  createElement,
  documentOf,
  insertBefore,
  isElement,
  matches,
  nameOf,
  nodesOf,
  type PageElement,
  type PageNode,
  parentElementOf,
  previousElementOf,
  replaceChildren,
  replaceWith,
  select,
  selectOne,
  setAttribute,
  setText,
  textOf,
} from '../dom/dom.ts';
import { nameDrawnTables } from './drawn-tables.ts';
import { checkFormulas } from './formulas.ts';
import { straighten } from './tables.ts';

/** A table with one of these cannot be written in Markdown: Turndown would leave it as HTML. */
const NOT_IN_TABLE = 'table, h1, h2, h3, h4, h5, h6, pre, blockquote, hr';
const LAID_OUT = '[role=presentation], [role=none]';
const PARTS_OF_TABLE = 'caption, thead, tbody, tfoot, tr, th, td';
/** The class with the language of code, as highlighters write it. */
const LANGUAGE = /\b(?:language|lang|highlight-source|highlight)-([\w+#.-]{1,20})(?:\s|$)/;

/** Changes code, tables, lists and formulas of a copy to what Turndown can write. */
export function simplify(root: PageElement): void {
  checkFormulas(root);
  for (const pre of select(root, 'pre')) simplifyCode(pre);
  // Twice the marks of deleted text would begin a block of code.
  for (const inner of select(root, ':is(del, s, strike) :is(del, s, strike)')) replaceWith(inner, ...nodesOf(inner));
  for (const list of select(root, ':is(ul, ol) > :is(ul, ol)')) intoItem(list);
  for (const list of select(root, 'ol')) numberItems(list);
  // Turndown takes it for a part of the text that it opens.
  for (const summary of select(root, 'summary')) toBlock(summary);
  nameDrawnTables(root);
  for (const table of select(root, 'table table').toReversed()) flattenTable(table);
  for (const table of select(root, 'table')) {
    if (isLayout(table)) toBlocks(table);
    else {
      flattenLists(table);
      straighten(table);
    }
  }
}

function simplifyCode(pre: PageElement): void {
  const parent = parentElementOf(pre);
  const about = [selectOne(pre, 'code'), pre, parent, parent && parentElementOf(parent)];
  const classes = about.map((each) => (each === null ? '' : classOf(each))).join(' ');
  const language = LANGUAGE.exec(classes)?.[1];
  for (const br of select(pre, 'br')) replaceWith(br, '\n');
  const code = createElement(documentOf(pre), 'code');
  if (language !== undefined && language !== 'default') setAttribute(code, 'class', `language-${language}`);
  setText(code, textOf(pre).replace(/^\n+/, '').trimEnd());
  replaceChildren(pre, code);
}

/** Puts a list that is right in another one below the item before it, as it is drawn. */
function intoItem(list: PageElement): void {
  const item = previousElementOf(list);
  if (item !== null) append(item, list);
  else insertBefore(parentElementOf(list) ?? list, list);
}

/** Gives each item of a list its number, as it is drawn. */
function numberItems(list: PageElement): void {
  const items = childrenOf(list).filter((item) => nameOf(item) === 'li');
  const isReversed = attribute(list, 'reversed') !== null;
  let number = integerOf(list, 'start') ?? (isReversed ? items.length : 1);
  for (const item of items) {
    number = integerOf(item, 'value') ?? number;
    setAttribute(item, 'value', String(number));
    number += isReversed ? -1 : 1;
  }
}

function integerOf(element: PageElement, name: string): number | undefined {
  const number = Number.parseInt(attribute(element, name) ?? '', 10);
  return Number.isNaN(number) ? undefined : number;
}

/** A table of data has no role of its own; without labels, it has no sections of text. */
function isLayout(table: PageElement): boolean {
  if (select(table, 'tr').length < 2 || selectOne(table, NOT_IN_TABLE) !== null) return true;
  return matches(table, LAID_OUT) || (selectOne(table, 'th, caption') === null && selectOne(table, 'p ~ p') !== null);
}

/** Makes the table and its parts blocks. */
function toBlocks(table: PageElement): void {
  const parts = select(table, PARTS_OF_TABLE).filter((part) => closest(part, 'table') === table);
  for (const part of [...parts, table]) toBlock(part);
}

function toBlock(element: PageElement): void {
  const block = createElement(documentOf(element), 'div');
  append(block, ...nodesOf(element));
  replaceWith(element, block);
}

/** Puts each row of a table in a cell of a table of data on a line of that cell. */
function flattenTable(table: PageElement): void {
  const outer = closest(parentElementOf(table) ?? table, 'table');
  const isOwn = (cell: PageElement) => closest(cell, 'table') === outer;
  if (outer === null || !select(outer, 'th').some(isOwn) || selectOne(table, NOT_IN_TABLE) !== null) return;
  const lines = select(table, 'tr').flatMap((row) => [
    createElement(documentOf(table), 'br'),
    ...childrenOf(row).flatMap((cell, at) => [...(at > 0 ? [' '] : []), ...nodesOf(cell)]),
  ]);
  replaceWith(table, ...lines);
}

/** Puts each item of the lists in a table on a line of its cell. */
function flattenLists(table: PageElement): void {
  for (const list of select(table, 'ul, ol').toReversed()) replaceWith(list, ...nodesOf(list).flatMap(lineOf));
}

const lineOf = (item: PageNode): PageNode[] =>
  isElement(item) && nameOf(item) === 'li' ? [createElement(documentOf(item), 'br'), ...nodesOf(item)] : [item];
