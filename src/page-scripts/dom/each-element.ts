import { type PageElement, type PageParent, select, shadowOf } from './dom.ts';

/** Visits the elements below `root`, through open shadow roots: an element's shadow tree right after the element. */
export function eachElement(root: PageParent, visit: (element: PageElement) => void): void {
  for (const element of select(root, '*')) {
    visit(element);
    const shadow = shadowOf(element);
    if (shadow !== null) eachElement(shadow, visit);
  }
}
