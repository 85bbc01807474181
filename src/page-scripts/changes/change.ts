import type { SelectorStep } from '../../capture/comparison/selector.ts';
import { fixedOverlays, popups } from '../boxes/overlays.ts';
import type { PageElement } from '../dom/dom.ts';
import { elementsBy } from '../dom/find.ts';
import { positioned } from '../dom/positioned.ts';
import { collapse, hide, unstick } from './hide.ts';
import { mask, maskWhole } from './mask.ts';

const KINDS = { popups, fixed: fixedOverlays, sticky: () => positioned('sticky') };

const each = (change: (element: PageElement) => void) => (elements: readonly PageElement[]) => {
  for (const element of elements) change(element);
  return true;
};

const CHANGES = { hide: each(hide), collapse: each(collapse), unstick: each(unstick), mask, maskWhole };

/** Elements to change: those that a selector matches, or those of a kind. */
export type Wanted = readonly SelectorStep[] | keyof typeof KINDS;
/** The way in which elements are changed. */
export type Change = keyof typeof CHANGES;

/**
 * Hides, masks or otherwise changes the elements of the document that are wanted. Returns false while the browser has
 * not yet reported what is visible; call `finishMask` after a frame.
 */
export function changeElements(wanted: readonly Wanted[], change: Change): boolean {
  const found = wanted.flatMap((each) => (typeof each === 'string' ? KINDS[each]() : elementsBy(each)));
  return found.length === 0 || CHANGES[change]([...new Set(found)]);
}
