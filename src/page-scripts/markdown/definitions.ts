import {
  matches,
  nameOf,
  type PageElement,
  parentElementOf,
  previousElementOf,
  selectOne,
  textOf,
} from '../dom/dom.ts';
import { inOneLine } from './escape-lines.ts';

/*
 * Markdown has no lists of terms and values: each term is an item of a list, with its value behind it or its values
 * below.
 */

/** A list with headings is a part of the layout. */
const LAYOUT = 'h1, h2, h3, h4, h5, h6';

/** Whether an element is a term, a value, or a group of them, in a list of pairs. */
export function isOfPairs(element: PageElement): boolean {
  if (!matches(element, 'dt, dd, dl > div')) return false;
  const parent = parentElementOf(element);
  const list = parent !== null && nameOf(parent) === 'div' ? parentElementOf(parent) : parent;
  return list !== null && nameOf(list) === 'dl' && selectOne(list, LAYOUT) === null;
}

/** Writes an element of a list of pairs as Markdown. */
export function writeOfPairs(content: string, element: PageElement): string {
  const text = content.trim();
  if (matches(element, 'dt')) {
    const term = inOneLine(text);
    return matches(element, 'dt + dt:has(~ dd)') ? `, ${term}` : `\n- ${term}`;
  }
  if (!matches(element, 'dd')) return `\n${text}\n`;
  const term = termOf(element);
  if (term === '') return `\n- ${indented(text)}`;
  const colon = /[:.?!…：？！。]$/.test(term) ? '' : ':';
  if (matches(element, 'dd + dd, :has(+ dd)')) {
    const isFirst = !matches(element, 'dd + dd');
    return `${isFirst ? colon : ''}\n  - ${indented(indented(text))}`;
  }
  return text.includes('\n') ? `${colon}\n\n  ${indented(text)}` : `${colon} ${text}`;
}

/** Returns the text of the last term before a value. */
function termOf(value: PageElement): string {
  let each: PageElement | null = value;
  while (each !== null && nameOf(each) === 'dd') each = previousElementOf(each);
  return each !== null && nameOf(each) === 'dt' ? textOf(each).trim() : '';
}

const indented = (text: string): string => text.replace(/\n(?=.)/g, '\n  ');
