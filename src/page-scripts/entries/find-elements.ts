import type { SelectorStep } from '../../capture/selector.ts';
import type { PageElement, PageParent } from '../dom.ts';
import { elementsBy } from '../find.ts';

/** Returns the elements that match a selector. */
export function run(steps: readonly SelectorStep[], start?: PageParent): PageElement[] {
  return elementsBy(steps, start);
}
