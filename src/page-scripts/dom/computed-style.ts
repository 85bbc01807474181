import type { PageElement } from './dom.ts';
import { type Style, web } from './web.ts';

/** Returns the computed style of an element, in the same object at each call. */
export type StyleOf = (element: PageElement) => Style;

export function stylesOfPage(): StyleOf {
  const known = new WeakMap<PageElement, Style>();
  return (element) => {
    const before = known.get(element);
    if (before !== undefined) return before;
    const style = web.getComputedStyle(element);
    known.set(element, style);
    return style;
  };
}
