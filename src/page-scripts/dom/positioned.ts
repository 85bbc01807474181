import { type PageElement, page, rootElementOf } from './dom.ts';
import { eachElement } from './each-element.ts';
import { web } from './web.ts';

/** Returns the elements of the page for which `isWanted` is true, also in open shadow trees. */
export function search(isWanted: (element: PageElement) => boolean): PageElement[] {
  const root = rootElementOf(page);
  const found: PageElement[] = [];
  if (root === null) return found;
  eachElement(root, (element) => {
    if (isWanted(element)) found.push(element);
  });
  return found;
}

/** Returns the elements with this position. */
export function positioned(position: 'fixed' | 'sticky'): PageElement[] {
  return search((element) => web.getComputedStyle(element).position === position);
}
