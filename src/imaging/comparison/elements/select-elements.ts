import { type Options, selectAll } from 'css-select';
import { elementSteps, PSEUDO_CLASSES } from '../../../capture/element-selector.ts';
import { type PageElement, type PageTree, withDescendants } from './page-tree.ts';

/** Returns the elements that match one of the selectors. */
export function selectElements(tree: PageTree, selectors: readonly string[]): ReadonlySet<PageElement> {
  return new Set(selectors.flatMap((selector) => matching(tree, elementSteps(selector))));
}

function matching({ elements }: PageTree, steps: readonly string[]): readonly PageElement[] {
  let found = elements.slice(0, 1);
  for (const [at, css] of steps.entries()) {
    // The first step begins at the document; others below what was found, and at the documents of frames.
    const from = at === 0 ? found : found.flatMap(({ children }) => children);
    found = [...new Set(selectAll(css, from, HOW))];
  }
  return found;
}

const HOW: Options<PageElement, PageElement> = {
  pseudos: {
    ...PSEUDO_CLASSES,
    empty: ({ tag, children, texts, filled }) =>
      filled !== true && texts.length === 0 && (children.length === 0 || tag === 'iframe'),
  },
  adapter: {
    isTag: (node): node is PageElement => node !== undefined,
    // Selectors of HTML have names in lower case, and elements of other kinds may not.
    getName: ({ tag }) => tag.toLowerCase(),
    getAttributeValue: attribute,
    hasAttrib: (element, name) => attribute(element, name) !== undefined,
    getChildren: ({ tag, children }) => (tag === 'iframe' ? [] : children),
    getParent: ({ parent }) => (parent?.tag === 'iframe' ? null : parent),
    getSiblings: (element) => element.parent?.children ?? [element],
    getText: (element) =>
      [...withDescendants([element])].flatMap(({ texts }) => texts.map(({ text }) => text)).join(' '),
    removeSubsets: (nodes) => {
      const below = withDescendants(nodes.flatMap(({ children }) => children));
      return [...new Set(nodes)].filter((node) => !below.has(node));
    },
  },
};

function attribute({ id, class: classes, attributes }: PageElement, name: string): string | undefined {
  if (name === 'id') return id;
  if (name === 'class') return classes;
  return attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}
