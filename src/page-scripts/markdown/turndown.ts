import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';
import { attribute, childrenOf, lend, nameOf, nextOf, type PageElement, parentElementOf } from '../dom.ts';

const REMOVED = ['script', 'style', 'noscript', 'template', 'iframe', 'object', 'svg', 'title'];

/** Returns what writes an element of a copy as Markdown. */
export function markdownWriter(): (element: PageElement) => string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', emDelimiter: '*', hr: '---' });
  turndown.use(gfm);
  turndown.addRule('listItem', { filter: 'li', replacement: listItem });
  turndown.remove(REMOVED);
  const escaped = turndown.escape.bind(turndown);
  turndown.escape = (text) => escaped(text).replace(/</g, '\\<');
  return (element) => turndown.turndown(lend(element)).trim();
}

function listItem(content: string, item: PageElement): string {
  const list = parentElementOf(item);
  const mark = list !== null && nameOf(list) === 'ol' ? `${numberOf(item, list)}. ` : '- ';
  const text = content.trim().replace(/\n(?=.)/g, `\n${' '.repeat(mark.length)}`);
  return mark + text + (nextOf(item) === null ? '' : '\n');
}

const numberOf = (item: PageElement, list: PageElement): number =>
  Number(attribute(list, 'start') ?? 1) + childrenOf(list).indexOf(item);
