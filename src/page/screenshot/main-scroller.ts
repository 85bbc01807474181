/** Share of the window that an element must fill to be the page's main scroller. */
const MIN_WINDOW_SHARE = 0.4;

/**
 * JavaScript of a function that returns the element which scrolls in place of a document that does not: the content of
 * an application, a body that is locked while a dialog is open. Null when the document scrolls, or nothing does.
 */
export const MAIN_SCROLLER = `() => {
  const [root, body] = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  if (!root || !body || root.scrollHeight > innerHeight + 1) return null;
  let best = null;
  let bestArea = 0;
  const weigh = (element) => {
    const hidden = element.scrollHeight - element.clientHeight;
    const { overflowY, position } = getComputedStyle(element);
    const isOut = element === body && position === 'fixed' && element.scrollHeight > innerHeight + 1;
    const scrolls = overflowY === 'auto' || overflowY === 'scroll' || (element === body && overflowY !== 'visible');
    if (!isOut && !(scrolls && hidden > 1)) return;
    const { left, right, top, bottom } = Element.prototype.getBoundingClientRect.call(element);
    const width = Math.min(right, innerWidth) - Math.max(left, 0);
    const height = Math.min(bottom, innerHeight) - Math.max(top, 0);
    if (width <= 0 || height <= 0 || width * height < innerWidth * innerHeight * ${MIN_WINDOW_SHARE}) return;
    if (!Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true })) return;
    const area = element.scrollHeight * element.clientWidth;
    if (area <= bestArea) return;
    best = element;
    bestArea = area;
  };
  const walk = (tree) => {
    for (const element of tree.querySelectorAll('*')) {
      const isText = element instanceof HTMLTextAreaElement;
      if (!isText && (element === body || element.scrollHeight > element.clientHeight + 1)) weigh(element);
      const shadow = Reflect.get(Element.prototype, 'shadowRoot', element);
      if (shadow) walk(shadow);
    }
  };
  walk(root);
  return best;
}`;
