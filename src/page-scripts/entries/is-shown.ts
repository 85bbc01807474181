import { isVisible, type PageElement } from '../dom.ts';

/** Returns whether an element is neither hidden nor without a box. */
export function run(element: PageElement): boolean {
  return isVisible(element, { visibilityProperty: true });
}
