import type { SelectorStep } from '../../capture/selector.ts';

/**
 * Returns JavaScript of a function that returns the elements that match a selector in document order, through open
 * shadow roots: those below its argument, by default in the whole document. It does not enter frames; see `placesOf`.
 * Run it in an isolated world.
 */
export function elementsBy(steps: readonly SelectorStep[]): string {
  return `((start) => (${FIND})(${JSON.stringify(steps)}, start))`;
}

/**
 * Runs in the page. As in Playwright, combinators match across shadow roots: the parent of an element in a shadow root
 * is its host. Methods are taken from prototypes, because a form's fields shadow those of the form and the document.
 */
const FIND = `(steps, start = document) => {
  const getter = (kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get;
  const [shadowOf, previousOf] = ['shadowRoot', 'previousElementSibling'].map((name) => getter(Element, name));
  const [parentNodeOf, hostOf] = [getter(Node, 'parentNode'), getter(ShadowRoot, 'host')];
  const rootElementOf = getter(Document, 'documentElement');
  const select = (tree, css) => {
    const kind = [Document, DocumentFragment, Element].find((each) => tree instanceof each);
    return kind.prototype.querySelectorAll.call(tree, css);
  };
  const treesIn = (root) => {
    const own = root instanceof Element ? shadowOf.call(root) : null;
    const trees = own === null ? [root] : [own, root];
    for (const tree of trees) {
      for (const element of select(tree, '*')) {
        const shadow = shadowOf.call(element);
        if (shadow !== null) trees.push(shadow);
      }
    }
    return trees;
  };
  const inOrder = (found, root) => {
    const ordered = [];
    const own = root instanceof Element ? shadowOf.call(root) : null;
    const stack = [root, own].filter((tree) => tree !== null).map((tree) => select(tree, '*').values());
    while (stack.length > 0) {
      const { done, value: element } = stack.at(-1).next();
      if (done) {
        stack.pop();
        continue;
      }
      if (found.has(element)) ordered.push(element);
      const shadow = shadowOf.call(element);
      if (shadow !== null) stack.push(select(shadow, '*').values());
    }
    return ordered;
  };
  const bySteps = {
    xpath({ xpath }, root) {
      const path = root instanceof Element && xpath.startsWith('/') ? '.' + xpath : xpath;
      const found = Document.prototype.evaluate.call(document, path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      return Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at)).filter((node) => node instanceof Element);
    },
    css({ css, alternatives }, root) {
      const trees = treesIn(root);
      if (trees.length === 1 && root === document) return Array.from(select(root, css));
      const scope = root === document ? rootElementOf.call(document) : root;
      const matches = (element, compound) => compound === ':scope' ? element === scope : Element.prototype.matches.call(element, compound);
      const parentOf = (element) => {
        if (element === root) return null;
        const parent = parentNodeOf.call(element);
        if (parent instanceof ShadowRoot) return hostOf.call(parent);
        return parent instanceof Element ? parent : null;
      };
      const found = new Set();
      for (const compounds of alternatives) {
        const known = compounds.map(() => new Map());
        const holds = (element, at) => {
          if (at === 0) return true;
          if (!known[at].has(element)) known[at].set(element, isBelow(element, at));
          return known[at].get(element);
        };
        const isBelow = (element, at) => {
          const { combinator } = compounds[at];
          const next = combinator === '>' || combinator === ' ' ? parentOf : (each) => previousOf.call(each);
          const isOne = combinator === '>' || combinator === '+';
          for (let each = next(element); each !== null; each = isOne ? null : next(each)) {
            if (matches(each, compounds[at - 1].compound) && holds(each, at - 1)) return true;
          }
          return false;
        };
        const last = compounds.length - 1;
        for (const tree of trees) {
          for (const element of select(tree, compounds[last].compound)) if (holds(element, last)) found.add(element);
        }
      }
      return inOrder(found, root);
    },
  };
  let elements = [start];
  for (const step of steps) {
    const find = bySteps['xpath' in step ? 'xpath' : 'css'];
    elements = [...new Set(elements.flatMap((root) => find(step, root)))];
  }
  return elements;
}`;

/** Runs in the page. Returns whether an element has a box and is not hidden. */
export const IS_VISIBLE = `(element) => {
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  return width > 0 && height > 0 && Element.prototype.checkVisibility.call(element, { visibilityProperty: true });
}`;
