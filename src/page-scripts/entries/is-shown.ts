import type { PageElement } from '../dom.ts';
import { isRendered } from '../drawn-box.ts';

/** Returns whether an element is neither hidden nor without a box. */
export function run(element: PageElement): boolean {
  return isRendered(element);
}
