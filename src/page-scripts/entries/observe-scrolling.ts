import { scrolled } from '../scrolled/state.ts';

/** Begins to observe a page that is going to be scrolled. Returns whether an element scrolls in place of the document. */
export function run(): boolean {
  return scrolled().scroller !== null;
}
