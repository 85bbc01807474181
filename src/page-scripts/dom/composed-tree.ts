import {
  hostOf,
  isElement,
  isText,
  type PageElement,
  type PageFragment,
  type PageNode,
  parentOf,
  slotOf,
  textSlotOf,
  typeOf,
} from './dom.ts';

/* The tree as it is drawn: what is in a slot lies in the slot, and the top of a shadow tree in its host. */

export function composedParent(node: PageNode): PageNode | null {
  const slot = isElement(node) ? slotOf(node) : isText(node) ? textSlotOf(node) : null;
  const parent = slot ?? parentOf(node);
  return parent !== null && isFragment(parent) ? hostOf(parent) : parent;
}

/** Returns an element and the elements around it, innermost first. */
export function ancestors(element: PageElement): PageElement[] {
  const all: PageElement[] = [];
  for (let each: PageNode | null = element; isElement(each); each = composedParent(each)) all.push(each);
  return all;
}

/** Whether `inner` is `outer` or lies in it. */
export function holds(outer: PageNode, inner: PageNode): boolean {
  for (let each: PageNode | null = inner; each !== null; each = composedParent(each)) if (each === outer) return true;
  return false;
}

const isFragment = (node: PageNode): node is PageFragment => typeOf(node) === 11;
