import { nameOf, nextOf, type PageElement, type PageNode, parentElementOf, previousOf, textOf } from '../dom/dom.ts';
import { BACKSLASH, BLOCK } from './escape-lines.ts';

const SIGN = `[\\p{P}\\p{S}${BACKSLASH}]`;
const BEGINS_WITH_SIGN = new RegExp(`^${SIGN}`, 'u');
const ENDS_WITH_SIGN = new RegExp(`${SIGN}$`, 'u');
const OF_WORD = /[^\s\p{P}\p{S}]/u;

/**
 * Returns what puts a mark around a text. A mark before white space or around blocks would be no emphasis, and could
 * begin a list. Between a word and a sign, as in `f**(x)**`, Markdown takes none for emphasis.
 */
export const markedWith =
  (mark: string) =>
  (content: string, element: PageElement): string => {
    const text = content.trim();
    if (text === '' || /\n\s*\n/.test(text)) return content;
    const isWordBefore = text === content.trimStart() && OF_WORD.test(textBeside(element, previousOf).at(-1) ?? '');
    const isWordAfter = text === content.trimEnd() && OF_WORD.test(textBeside(element, nextOf)[0] ?? '');
    if (isWordBefore && BEGINS_WITH_SIGN.test(text)) return content;
    if (isWordAfter && ENDS_WITH_SIGN.test(text)) return content;
    return content.replace(text, () => mark + text + mark);
  };

/** Returns the text of the next node of the line in one direction; '' at its end. */
function textBeside(element: PageElement, step: (node: PageNode) => PageNode | null): string {
  for (let node: PageNode = element; ; ) {
    const beside = step(node);
    if (beside !== null) return textOf(beside);
    const around = parentElementOf(node);
    if (around === null || BLOCK.test(nameOf(around))) return '';
    node = around;
  }
}
