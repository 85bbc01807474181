import {
  classOf,
  isElement,
  nameOf,
  nodesOf,
  type PageElement,
  type PageNode,
  select,
  selectOne,
  textOf,
} from '../dom/dom.ts';

/** Elements of the copy that are parts of a line. */
const INLINE =
  /^(?:a|abbr|b|bdi|bdo|br|cite|code|del|dfn|em|i|img|input|ins|kbd|mark|q|ruby|rp|rt|s|samp|small|span|strong|sub|sup|time|u|var)$/;
const BLOCKS =
  'address,article,aside,blockquote,caption,center,dd,details,div,dl,dt,figcaption,figure,footer,h1,h2,h3,h4,h5,h6,header,hgroup,li,main,nav,ol,p,pre,section,summary,table,tbody,td,tfoot,th,thead,tr,ul';

/**
 * Nodes that follow each other with no block between them, such as a paragraph, a heading, a cell or the links of a
 * line.
 */
export interface Run {
  readonly nodes: readonly PageNode[];
  /** Its text with white space collapsed, and the number of its words. */
  readonly text: string;
  readonly words: number;
  /** Number of its characters in links. */
  readonly linked: number;
  /** The elements around it, innermost first, without the body; their names and those of elements in it. */
  readonly around: readonly PageElement[];
  readonly tags: readonly string[];
  /** The level of its heading, or 0. */
  readonly level: number;
}

/** Splits the body of a document into runs. */
export function runsOf(body: PageElement): Run[] {
  const runs: Run[] = [];
  const add = (nodes: readonly PageNode[], around: readonly PageElement[]) => {
    if (nodes.length > 0) runs.push(runOf(nodes, around));
  };
  const walk = (element: PageElement, around: readonly PageElement[]) => {
    let nodes: PageNode[] = [];
    for (const node of nodesOf(element)) {
      if (!isElement(node) || !isBlock(node)) {
        nodes.push(node);
        continue;
      }
      add(nodes, around);
      nodes = [];
      if (nameOf(node) === 'pre') add([node], around);
      else walk(node, [node, ...around]);
    }
    add(nodes, around);
  };
  walk(body, []);
  return runs;
}

const isBlock = (element: PageElement): boolean => !INLINE.test(nameOf(element)) || selectOne(element, BLOCKS) !== null;

function runOf(nodes: readonly PageNode[], around: readonly PageElement[]): Run {
  const isBreak = (node: PageNode) => isElement(node) && nameOf(node) === 'br';
  const text = collapsed(nodes.map((node) => (isBreak(node) ? ' ' : textOf(node))).join(''));
  const elements = nodes.filter(isElement);
  const tags = [...elements, ...around].map(nameOf);
  const isLink = around.some((each) => nameOf(each) === 'a');
  const linked = isLink ? text.length : elements.reduce((sum, element) => sum + linkedIn(element), 0);
  return {
    nodes,
    text,
    words: text === '' ? 0 : text.split(' ').length,
    linked: Math.min(text.length, linked),
    around,
    tags,
    level: Number(tags.find((tag) => /^h[1-6]$/.test(tag))?.[1] ?? 0),
  };
}

function linkedIn(element: PageElement): number {
  const links = nameOf(element) === 'a' ? [element] : select(element, 'a');
  return links.reduce((sum, link) => sum + collapsed(textOf(link)).length, 0);
}

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Whether two runs have elements of the same kinds around them. */
export function isAlike(one: Run, other: Run): boolean {
  const isSame = (element: PageElement, at: number) => {
    const peer = other.around[at];
    return peer !== undefined && nameOf(element) === nameOf(peer) && classOf(element) === classOf(peer);
  };
  return one.around.length === other.around.length && one.around.every(isSame);
}
