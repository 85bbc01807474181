import type { SelectorStep } from '../../capture/selector.ts';
import { elementsBy } from '../find.ts';

/** Returns whether an element, visible or not, matches a selector. */
export function run(steps: readonly SelectorStep[]): boolean {
  return elementsBy(steps).length > 0;
}
