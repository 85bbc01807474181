import { composedParent } from '../dom/composed-tree.ts';
import { isDocument, isElement, type PageElement, type PageNode } from '../dom/dom.ts';
import { windowOf } from '../dom/web.ts';
import { type Item, isGap } from '../painted/items.ts';

/**
 * Returns what finds the painted items in an element. Items are in reading order, so those of an element follow each
 * other.
 */
export function itemsIn<Mark>(items: readonly Item<Mark>[]): (element: PageElement) => readonly Item<Mark>[] {
  const numbers = [...items.keys()];
  const first = firstInElements(items, numbers);
  const last = firstInElements(items, numbers.toReversed());
  return (element) => {
    const start = first.get(element);
    return start === undefined ? [] : items.slice(start, (last.get(element) ?? start) + 1);
  };
}

/** Returns, for each element around items, which of them comes first in this order. */
function firstInElements<Mark>(items: readonly Item<Mark>[], order: readonly number[]) {
  const found = new Map<PageNode, number>();
  for (const at of order) {
    const item = items[at];
    if (item === undefined || isGap(item)) continue;
    // The elements around one that has an item already have theirs, too.
    for (let each: PageNode | null = item.parent; each !== null && !found.has(each); each = around(each)) {
      found.set(each, at);
    }
  }
  return found;
}

/** The element around a node; of a document in a frame, the frame. */
function around(node: PageNode): PageNode | null {
  const parent = composedParent(node);
  if (parent === null || isElement(parent)) return parent;
  return isDocument(parent) ? (windowOf(parent)?.frameElement ?? null) : parent;
}
