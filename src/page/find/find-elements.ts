import type { SelectorStep } from '../../capture/selector.ts';
import { functionOf } from '../page-scripts.ts';

/**
 * Returns JavaScript of a function that returns the elements that match a selector in document order, through open
 * shadow roots: those below its argument, by default in the whole document. It does not enter frames; see `placesOf`.
 * Run it in an isolated world.
 */
export function elementsBy(steps: readonly SelectorStep[]): string {
  return `((start) => (${functionOf('find-elements')})(${JSON.stringify(steps)}, start))`;
}

/** Runs in the page. Returns whether an element has a box and is not hidden. */
export const IS_VISIBLE = `(element) => {
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  return width > 0 && height > 0 && Element.prototype.checkVisibility.call(element, { visibilityProperty: true });
}`;
