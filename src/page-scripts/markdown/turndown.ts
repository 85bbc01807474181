import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';
import {
  attribute,
  closest,
  lend,
  nameOf,
  nextOf,
  type PageElement,
  parentElementOf,
  selectOne,
  textOf,
} from '../dom/dom.ts';
import { isOfPairs, writeOfPairs } from './definitions.ts';
import { markedWith } from './emphasis.ts';
import { inOneLine, PIPE } from './escape-lines.ts';
import { texOf } from './formulas.ts';

const REMOVED = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'title'];

/** Returns what writes an element of a copy as Markdown. */
export function markdownWriter(): (element: PageElement) => string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', emDelimiter: '*', hr: '---' });
  turndown.use(gfm);
  turndown.addRule('listItem', { filter: 'li', replacement: listItem });
  turndown.addRule('task', { filter: 'input', replacement: task });
  turndown.addRule('emphasis', { filter: ['em', 'i'], replacement: markedWith('*') });
  turndown.addRule('strong', { filter: ['strong', 'b'], replacement: markedWith('**') });
  turndown.addRule('deleted', { filter: ['del', 's'], replacement: markedWith('~~') });
  turndown.addRule('heading', { filter: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'], replacement: heading });
  turndown.addRule('raised', { filter: 'sup', replacement: raised });
  turndown.addRule('pair', { filter: isOfPairs, replacement: writeOfPairs });
  turndown.addRule('formula', { filter: (element: PageElement) => texOf(element) !== null, replacement: formula });
  turndown.remove(REMOVED);
  const escaped = turndown.escape.bind(turndown);
  // A `&` could begin the name of a character, such as `&copy;`.
  turndown.escape = (text) => escaped(text).replace(/<|&(?=#?\w+;|$)/g, '\\$&');
  return (element) => turndown.turndown(lend(element)).trim();
}

function listItem(content: string, item: PageElement): string {
  const list = parentElementOf(item);
  const mark = list !== null && nameOf(list) === 'ol' ? `${attribute(item, 'value') ?? 1}. ` : '- ';
  const text = content
    .trim()
    .replace(/^(\[[ x]\])\s+(?:[☐☑☒✓✔]\s*)?/, '$1 ')
    .replace(/\n(?=.)/g, `\n${' '.repeat(mark.length)}`);
  return mark + text + (nextOf(item) === null ? '' : '\n');
}

/** Markdown ends a heading with its line. */
function heading(content: string, element: PageElement): string {
  const line = inOneLine(content);
  return line === '' ? '' : `\n\n${'#'.repeat(Number(nameOf(element)[1]))} ${line}\n\n`;
}

/** Numbers and simple terms above a line. Ordinals (`1st`) and marks (`TM`) are words. */
const EXPONENT = /^[-+−–]?(?:\d+|[ijkmntxy])(?:\s*[-+−–*/·,]\s*(?:\d+|\d*[ijkmntxy]))*$/;

/** `10<sup>6</sup>` becomes `10^6`; without the sign it would read 106. Links and images stay. */
function raised(content: string, element: PageElement): string {
  const text = textOf(element).trim();
  if (!EXPONENT.test(text) || selectOne(element, 'a, img') !== null) return content;
  return /[\dijkmntxy]\s*[-+−–*/·]/.test(text) ? `^(${text})` : `^${text}`;
}

/** A displayed formula is a block of its own, except in a table, whose cells have one line. */
function formula(_: string, element: PageElement): string {
  const tex = texOf(element) ?? '';
  if (closest(element, 'table') !== null) return tex.replaceAll('|', PIPE);
  return tex.startsWith('$$') ? `\n\n${tex}\n\n` : tex;
}

const task = (_: string, box: PageElement): string => (attribute(box, 'checked') === null ? '[ ] ' : '[x] ');
