import {
  closest,
  dataOf,
  isElement,
  isText,
  nameOf,
  nodesOf,
  type PageElement,
  type PageText,
  parentElementOf,
  setText,
  textOf,
  textsIn,
} from '../dom/dom.ts';

/*
 * Turndown escapes each text node by itself, so a paragraph of several, or of several lines, could make a heading, a
 * list or a table of its own: `#<b> x</b>`. Here the text of whole lines is looked at.
 */

/** Stands for a backslash, which Turndown would escape. A noncharacter: pages are read without it. */
export const BACKSLASH = '\ufdd0';
/** Stands for a `|` in a table, of which the plugin of Turndown would leave one of several. */
export const PIPE = '\ufdd1';

/** Elements whose content Turndown writes between blank lines. */
export const BLOCK =
  /^(?:address|article|aside|audio|blockquote|body|canvas|center|dd|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frameset|h[1-6]|header|hgroup|hr|html|isindex|li|main|menu|nav|noframes|noscript|ol|output|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul)$/;
/** Elements whose content is written as it is, or in a table, where lines make no structure. */
const PLAIN = /^(?:code|pre|td|th)$/;

/**
 * The beginnings of lines that make structure, and are not escaped in a single text node. A backslash follows group 1.
 */
const STRUCTURE = [
  /^()#{1,6}(?:\s|$)/,
  /^()\+(?:\s|$)/,
  /^()[-=>~]/,
  /^(\d{1,9})[.)](?:\s|$)/,
  /^()[|:][|:\s-]*-[|:\s-]*$/,
];

/** Marks where backslashes belong in the lines of a copy. `withBackslashes` writes them. */
export function escapeLines(copy: PageElement): void {
  for (const walk = textsIn(copy); walk.nextNode() !== null; ) {
    const text = dataOf(walk.currentNode);
    const plain = text.replaceAll(BACKSLASH, '').replaceAll(PIPE, '');
    const parent = plain.includes('|') ? parentElementOf(walk.currentNode) : null;
    const isInTable = parent !== null && closest(parent, 'table') !== null;
    const written = isInTable ? plain.replaceAll('|', PIPE) : plain;
    if (written !== text) setText(walk.currentNode, written);
  }
  for (const line of linesIn(copy)) escapeLine(line);
}

/** Joins lines. A pattern with \s* on both sides of a line break would take quadratic time. */
export const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

export function withBackslashes(markdown: string): string {
  return markdown.replaceAll(BACKSLASH, '\\').replaceAll(PIPE, '\\|');
}

/** Returns the text nodes of each line, up to code in it. */
function linesIn(copy: PageElement): readonly (readonly PageText[])[] {
  const lines: PageText[][] = [];
  let line: PageText[] = [];
  const begin = () => {
    line = [];
    lines.push(line);
  };
  const visit = (element: PageElement): void => {
    const isBlock = BLOCK.test(nameOf(element));
    if (isBlock) begin();
    for (const node of nodesOf(element)) {
      if (isText(node)) line.push(node);
      else if (!isElement(node)) continue;
      else if (nameOf(node) === 'br') begin();
      else if (!PLAIN.test(nameOf(node))) visit(node);
      else if (textOf(node).trim() !== '') line = [];
    }
    if (isBlock) begin();
  };
  visit(copy);
  return lines;
}

function escapeLine(texts: readonly PageText[]): void {
  const line = texts.map(dataOf).join('');
  const trimmed = line.trimStart();
  const [, before] = STRUCTURE.map((structure) => structure.exec(trimmed)).find((found) => found !== null) ?? [];
  if (before === undefined) return;
  let at = line.length - trimmed.length + before.length;
  for (const text of texts) {
    const data = dataOf(text);
    if (at < data.length) {
      setText(text, data.slice(0, at) + BACKSLASH + data.slice(at));
      return;
    }
    at -= data.length;
  }
}
