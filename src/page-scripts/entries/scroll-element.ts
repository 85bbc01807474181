import type { SelectorStep } from '../../capture/selector.ts';
import { scrollElementBy } from '../dom.ts';
import { elementsBy } from '../find.ts';

/**
 * Scrolls the first element that matches by this way; returns whether there is one. Scrolls instantly, even where the
 * style sheet sets smooth scrolling: the next step could not tell when that ends.
 */
export function run(steps: readonly SelectorStep[], left: number, top: number): boolean {
  const [element] = elementsBy(steps);
  if (element !== undefined) scrollElementBy(element, { left, top, behavior: 'instant' });
  return element !== undefined;
}
