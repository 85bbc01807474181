import { mainScroller } from '../main-scroller.ts';

/** Returns whether an element scrolls in place of the document. */
export function run(): boolean {
  return mainScroller() !== null;
}
