import type { SelectorStep } from '../../capture/selector.ts';
import { isFrame, type PageElement } from '../dom.ts';
import { elementsBy } from '../find.ts';

/** Returns the elements of frames that match a selector, at most this number. */
export function run(steps: readonly SelectorStep[], max: number): PageElement[] {
  return elementsBy(steps).filter(isFrame).slice(0, max);
}
