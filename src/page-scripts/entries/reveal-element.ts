import type { PageElement } from '../dom.ts';
import { isSeen } from '../drawn-box.ts';
import { reveal } from '../reveal.ts';

/** Scrolls to an element and returns whether it is visible. */
export function run(element: PageElement, isFrame: boolean): boolean {
  reveal(element, isFrame);
  return isSeen(element);
}
