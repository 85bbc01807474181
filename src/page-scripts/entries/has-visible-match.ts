import type { SelectorStep } from '../../capture/selector.ts';
import { isSeen } from '../drawn-box.ts';
import { elementsBy } from '../find.ts';

/** Returns whether a visible element matches a selector. */
export function run(steps: readonly SelectorStep[]): boolean {
  return elementsBy(steps).some((element) => isSeen(element));
}
