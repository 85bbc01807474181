import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';
import { attribute, closest, lend, nameOf, nextOf, type PageElement, parentElementOf } from '../dom.ts';
import { isOfPairs, writeOfPairs } from './definitions.ts';
import { PIPE } from './escape-lines.ts';
import { texOf } from './formulas.ts';

const REMOVED = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'title'];

const RAISED: Readonly<Record<string, string>> = Object.fromEntries(
  [...'0123456789+−-=()n'].map((sign, at) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ'][at] ?? sign]),
);

/** Returns what writes an element of a copy as Markdown. */
export function markdownWriter(): (element: PageElement) => string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', emDelimiter: '*', hr: '---' });
  turndown.use(gfm);
  turndown.addRule('listItem', { filter: 'li', replacement: listItem });
  turndown.addRule('task', { filter: 'input', replacement: task });
  turndown.addRule('emphasis', { filter: ['em', 'i'], replacement: markedWith('*') });
  turndown.addRule('strong', { filter: ['strong', 'b'], replacement: markedWith('**') });
  turndown.addRule('pair', { filter: isOfPairs, replacement: writeOfPairs });
  turndown.addRule('formula', {
    filter: (element: PageElement) => texOf(element) !== null,
    replacement: (_: string, element: PageElement) =>
      texOf(element)?.replaceAll('|', closest(element, 'table') === null ? '|' : PIPE) ?? '',
  });
  turndown.addRule('power', { filter: 'sup', replacement: raised });
  turndown.remove(REMOVED);
  const escaped = turndown.escape.bind(turndown);
  turndown.escape = (text) => escaped(text).replace(/</g, '\\<');
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

/** A mark before white space or around blocks would be no emphasis, and could begin a list. */
const markedWith =
  (mark: string) =>
  (content: string): string => {
    const text = content.trim();
    if (text === '' || /\n\s*\n/.test(text)) return content;
    return content.replace(text, () => mark + text + mark);
  };

/** Without a mark of its own, a power would be a part of the number before it. */
const raised = (content: string): string =>
  /^[\d+−=()n-]+$/.test(content) ? content.replace(/./g, (sign) => RAISED[sign] ?? sign) : content;

const task = (_: string, box: PageElement): string => (attribute(box, 'checked') === null ? '[ ] ' : '[x] ');
