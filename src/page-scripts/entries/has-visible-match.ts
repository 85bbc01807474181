import type { SelectorStep } from '../../capture/selector.ts';
import { elementsBy, isSeen } from '../find.ts';

/** Returns whether a visible element matches a selector. */
export function run(steps: readonly SelectorStep[]): boolean {
  return elementsBy(steps).some(isSeen);
}
