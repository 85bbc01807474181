import { isElement, type PageElement, type PageFragment, type PageParent, select, shadowOf } from './dom.ts';

/** Returns the trees below `root`: its own, and the open shadow roots in it. */
export function treesIn<Root extends PageParent>(root: Root): (Root | PageFragment)[] {
  const own = isElement(root) ? shadowOf(root) : null;
  const trees: (Root | PageFragment)[] = own === null ? [root] : [own, root];
  for (const tree of trees) {
    for (const element of select(tree, '*')) {
      const shadow = shadowOf(element);
      if (shadow !== null) trees.push(shadow);
    }
  }
  return trees;
}

/** Returns the elements below `root` that match a selector, also those in its open shadow roots. */
export const selectInTrees = (root: PageParent, css: string): PageElement[] =>
  treesIn(root).flatMap((tree) => select(tree, css));
