import { type PageRoot, page, shadowOf } from './dom.ts';
import { eachElement } from './each-element.ts';

/** Returns the document and the open shadow roots in it. */
export function openTrees(): PageRoot[] {
  const trees: PageRoot[] = [page];
  eachElement(page, (element) => {
    const shadow = shadowOf(element);
    if (shadow !== null) trees.push(shadow);
  });
  return trees;
}
