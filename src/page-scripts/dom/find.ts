import type { Compound, CssStep, SelectorStep, XPathStep } from '../../capture/comparison/selector.ts';
import { isVisible } from '../boxes/drawn-box.ts';
import {
  above,
  byXPath,
  isElement,
  matches,
  type PageElement,
  type PageParent,
  page,
  previousElementOf,
  rootElementOf,
  select,
  shadowOf,
} from './dom.ts';
import { treesIn } from './open-trees.ts';

/**
 * Returns the elements that match a selector in document order, through open shadow roots: those below `start`, by
 * default in the whole document. It does not enter frames. As in Playwright, combinators match across shadow roots: the
 * parent of an element in a shadow root is its host.
 */
export function elementsBy(steps: readonly SelectorStep[], start: PageParent = page): PageElement[] {
  let roots: PageParent[] = [start];
  for (const step of steps) {
    const find = (root: PageParent) => ('xpath' in step ? findXPath(step, root) : findCss(step, root));
    roots = [...new Set(roots.flatMap(find))];
  }
  return roots.filter(isElement);
}

/** Returns the first visible element that matches a selector, or else the first one; null when none does. */
export function firstBy(steps: readonly SelectorStep[]): PageElement | null {
  const found = elementsBy(steps);
  return found.find((element) => isVisible(element)) ?? found[0] ?? null;
}

function findXPath({ xpath }: XPathStep, root: PageParent): PageElement[] {
  return byXPath(isElement(root) && xpath.startsWith('/') ? `.${xpath}` : xpath, root).filter(isElement);
}

function findCss({ css, alternatives }: CssStep, root: PageParent): PageElement[] {
  const trees = treesIn(root);
  if (trees.length === 1 && root === page) return select(root, css);
  const scope = root === page ? rootElementOf(page) : root;
  const isMatch = (element: PageElement, compound: string) =>
    compound === ':scope' ? element === scope : matches(element, compound);
  const found = new Set<PageElement>();
  for (const compounds of alternatives) {
    const last = compounds.length - 1;
    const holds = chainOf(compounds, root, isMatch);
    for (const tree of trees) {
      for (const element of select(tree, compounds[last]?.compound ?? '')) if (holds(element, last)) found.add(element);
    }
  }
  return inOrder(found, root);
}

/** Returns whether an element that matches the compound at `at` has those before it around or beside it. */
function chainOf(
  compounds: readonly Compound[],
  root: PageParent,
  isMatch: (element: PageElement, compound: string) => boolean,
): (element: PageElement, at: number) => boolean {
  const known = compounds.map(() => new Map<PageElement, boolean>());
  const parentOf = (element: PageElement) => (element === root ? null : above(element));
  const isBelow = (element: PageElement, at: number): boolean => {
    const { combinator = '' } = compounds[at] ?? {};
    const { compound = '' } = compounds[at - 1] ?? {};
    const next = combinator === '>' || combinator === ' ' ? parentOf : previousElementOf;
    const isOne = combinator === '>' || combinator === '+';
    for (let each = next(element); each !== null; each = isOne ? null : next(each)) {
      if (isMatch(each, compound) && holds(each, at - 1)) return true;
    }
    return false;
  };
  const holds = (element: PageElement, at: number): boolean => {
    if (at === 0) return true;
    const answer = known[at]?.get(element) ?? isBelow(element, at);
    known[at]?.set(element, answer);
    return answer;
  };
  return holds;
}

/** Sorts elements as they are drawn: an element's shadow tree comes before its children. */
function inOrder(found: ReadonlySet<PageElement>, root: PageParent): PageElement[] {
  const ordered: PageElement[] = [];
  const own = isElement(root) ? shadowOf(root) : null;
  const stack = [root, own].flatMap((tree) => (tree === null ? [] : [select(tree, '*').values()]));
  for (let elements = stack.at(-1); elements !== undefined; elements = stack.at(-1)) {
    const { done, value: element } = elements.next();
    if (done) {
      stack.pop();
      continue;
    }
    if (found.has(element)) ordered.push(element);
    const shadow = shadowOf(element);
    if (shadow !== null) stack.push(select(shadow, '*').values());
  }
  return ordered;
}
