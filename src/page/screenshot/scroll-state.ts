import { MAIN_SCROLLER } from './main-scroller.ts';

/** Maximum number of elements that are remembered because they changed while the page was scrolled. */
const MAX_CHANGED = 5_000;
/** Points in each direction at which the window is examined. */
const POINTS = 8;

/**
 * JavaScript of a function that returns the elements at a grid of points in the window, the upper ones first. `all`:
 * also those below them.
 */
const AT_POINTS = `(all) => {
  const found = new Set();
  const add = (tree, x, y) => {
    const stack = all ? tree.elementsFromPoint(x, y) : [tree.elementFromPoint(x, y)].filter(Boolean);
    for (const element of stack) {
      if (found.has(element)) continue;
      found.add(element);
      const shadow = Reflect.get(Element.prototype, 'shadowRoot', element);
      if (shadow) add(shadow, x, y);
    }
  };
  const places = (length) => [8, ...Array.from({ length: ${POINTS} }, (_, at) => (length * (at + 0.5)) / ${POINTS})];
  for (const y of places(innerHeight)) for (const x of places(innerWidth)) add(document, x, y);
  return found;
}`;

/**
 * JavaScript of a function that returns what is known about a page that is scrolled, from its first call on:
 * - `scroller`: the element that scrolls in place of the document, or null.
 * - `shown`: images that were in the window and have not loaded; `watchImages` adds new images.
 * - `changed`: elements that changed or began to move meanwhile.
 * - `atPoints`: see above; `first`: what the window showed before it was scrolled.
 * - `hears`: whether the page listens to scrolling; `popups`: what has come over the window meanwhile, null when
 *   unknown.
 */
export const SCROLL_STATE = `() => globalThis[Symbol.for('capstan-scrolled')] ??= (() => {
  const known = new WeakSet();
  const shown = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) shown.add(target);
  });
  const images = Document.prototype.getElementsByTagName.call(document, 'img');
  const watchImages = () => {
    for (const image of images) {
      if (known.has(image)) continue;
      known.add(image);
      observer.observe(image);
    }
  };
  const changed = new Set();
  const change = ({ target }) => {
    if (changed.size < ${MAX_CHANGED} && target instanceof Element) changed.add(target);
  };
  for (const type of ['transitionrun', 'animationstart']) document.addEventListener(type, change, true);
  const mutations = new MutationObserver((records) => records.forEach(change));
  mutations.observe(document, { subtree: true, attributeFilter: ['class', 'style', 'hidden'] });
  const atPoints = ${AT_POINTS};
  return {
    scroller: (${MAIN_SCROLLER})(), shown, watchImages, changed, atPoints, first: atPoints(true), looks: new Map(),
    hears: true, popups: null,
  };
})()`;
