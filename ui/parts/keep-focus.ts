/*
 * When the focused element leaves the document, such as a button of a receiver that was deleted, browsers leave the focus
 * nowhere, and the keyboard begins again at the top of the page. Here it moves to what is beside the element.
 */

/** Elements that are removed from lists with all that they contain. */
const ITEM = 'article, li, section';
const CONTROL = ':is(a[href], button, input, select, textarea):not(:disabled)';

/** Moves the focus, from now on, when the element that has it is removed. */
export function keepFocus(): void {
  let focused: Element | undefined;
  document.addEventListener('focusin', ({ target }) => {
    focused = target instanceof Element ? target : undefined;
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    if (relatedTarget !== null) return;
    queueMicrotask(() => {
      if (focused === target && wasLeft(target)) focused = undefined;
    });
  });
  const observer = new MutationObserver((records) => {
    const lost = focused;
    if (lost === undefined || lost.isConnected || document.activeElement !== document.body) return;
    for (const { removedNodes, target, nextSibling, previousSibling } of records) {
      const removed = [...removedNodes].find((node) => node.contains(lost));
      if (removed instanceof Element) return focusBeside(removed, target, [nextSibling, previousSibling]);
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
}

/** Whether a person has left the element: it has not lost the focus by its removal, or since it was disabled. */
function wasLeft(element: EventTarget): boolean {
  return (
    element instanceof Element &&
    element.isConnected &&
    !element.matches(':disabled') &&
    element !== document.activeElement
  );
}

/** Focuses the item after the one that was removed, or else the one before; for a part of an item, the item. */
function focusBeside(removed: Element, around: Node, siblings: readonly (Node | null)[]): void {
  // A dialog gives the focus back. A card may only be scrolled out of sight: the arrow keys lead back to the cards.
  if (removed.matches('dialog') || closest(around, '.grid') !== undefined) return;
  const item = removed.matches(ITEM)
    ? siblings.find((one) => one instanceof Element && one.isConnected && one.localName === removed.localName)
    : closest(around, ITEM);
  const links = item instanceof Element ? [...item.querySelectorAll<HTMLElement>(CONTROL)] : [];
  const [link] = [...links.filter(({ dataset }) => dataset.place !== undefined), ...links];
  if (link === undefined) focusHeading(around);
  else link.focus();
}

/** Focuses the heading of the dialog or view around a node. */
export function focusHeading(around: Node = document.body): void {
  const frame = closest(around, 'dialog, main') ?? document.querySelector('main');
  const heading = frame?.querySelector<HTMLElement>('h1, h2') ?? frame;
  if (!(heading instanceof HTMLElement)) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

function closest(node: Node, selector: string): Element | undefined {
  return (node instanceof Element ? node : node.parentElement)?.closest(selector) ?? undefined;
}
