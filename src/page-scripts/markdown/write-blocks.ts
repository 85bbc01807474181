import {
  append,
  createElement,
  documentOf,
  hrefOf,
  isElement,
  nameOf,
  nodesOf,
  type PageElement,
  type PageNode,
  select,
  setAttribute,
  srcOf,
  textOf,
} from '../dom/dom.ts';
import { escapeLines, withBackslashes } from './escape-lines.ts';
import { texOf } from './formulas.ts';
import { simplify } from './simplify.ts';
import { markdownWriter } from './turndown.ts';

/** Elements that hold blocks. Anything else is a block of its own, or a part of a paragraph. */
const CONTAINER =
  /^(?:div|section|article|main|body|header|footer|aside|nav|center|details|dialog|hgroup|address|fieldset)$/;
const BLOCK = /^(?:p|h[1-6]|ul|ol|dl|table|pre|blockquote|figure|hr)$/;

/** A block of Markdown; its text without white space, and the URLs of its images. */
export interface Block {
  readonly markdown: string;
  readonly words: string;
  readonly images: readonly string[];
}

/** Returns the Markdown of an element of a copy, which it changes, as a list of blocks. */
export function writeBlocks(element: PageElement): Block[] {
  simplify(element);
  const write = markdownWriter();
  const blocks: Block[] = [];
  for (const nodes of blocksIn(element)) {
    const holder = createElement(documentOf(element), 'div');
    append(holder, ...nodes);
    const drawn = select(holder, 'img');
    const images = drawn.map(srcOf).filter((source) => source !== '');
    const words = textOf(holder).replace(/\s+/g, '');
    if (words === '' && drawn.length === 0) continue;
    encodeParentheses(holder);
    escapeLines(holder);
    const markdown = withBackslashes(write(holder));
    if (markdown !== '') blocks.push({ markdown, words, images });
  }
  return blocks;
}

/** Returns the nodes of each block. */
function* blocksIn(container: PageElement): Generator<readonly PageNode[]> {
  let paragraph: PageNode[] = [];
  for (const node of nodesOf(container)) {
    const name = isElement(node) ? nameOf(node) : '';
    const isContainer = isElement(node) && CONTAINER.test(name);
    if (!isContainer && !BLOCK.test(name)) {
      paragraph.push(node);
      continue;
    }
    if (paragraph.length > 0) yield paragraph;
    paragraph = [];
    if (isContainer && texOf(node) === null) yield* blocksIn(node);
    else yield [node];
  }
  if (paragraph.length > 0) yield paragraph;
}

/** Not every reader of Markdown knows parentheses in a URL. */
function encodeParentheses(holder: PageElement): void {
  const encoded = (url: string) => url.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'));
  for (const linked of select(holder, '[href], [src]')) {
    if (nameOf(linked) === 'a') setAttribute(linked, 'href', encoded(hrefOf(linked)));
    else setAttribute(linked, 'src', encoded(srcOf(linked)));
  }
}
