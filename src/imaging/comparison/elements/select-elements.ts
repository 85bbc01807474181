import { elementSteps } from '../../../capture/comparison/element-selector.ts';
import { type Matched, MatchedElements } from './matched-elements.ts';
import type { PageElement, PageTree } from './page-tree.ts';

/** Returns the elements that match one of the selectors. */
export function selectElements({ elements }: PageTree, selectors: readonly string[]): ReadonlySet<PageElement> {
  if (selectors.length === 0) return new Set();
  const matched = new MatchedElements(elements);
  const found = new Uint8Array(elements.length);
  for (const selector of selectors) {
    for (const [at, is] of matching(elements, matched, elementSteps(selector)).entries()) {
      if (is === 1) found[at] = 1;
    }
  }
  return new Set(elements.filter(({ order }) => found[order] === 1));
}

/** The first step begins at the document; others below what was found, and at the documents of frames. */
function matching(elements: readonly PageElement[], matched: MatchedElements, steps: readonly string[]): Matched {
  const [first = '', ...others] = steps;
  const root = new Uint8Array(elements.length).fill(1, 0, 1);
  let found = within(matched.by(first, root), elements, root, true);
  for (const css of others) {
    const scope = Uint8Array.from(elements, ({ order, parent }) => {
      const inFrame = parent?.tag === 'iframe' && found[parent.order] === 1;
      return inFrame || found[order] === 1 ? 1 : 0;
    });
    found = within(matched.by(css, scope), elements, found, false);
  }
  return found;
}

/** Returns those below `roots` that do not belong to a frame below them; with the roots themselves, if wanted. */
function within(matched: Matched, elements: readonly PageElement[], roots: Matched, withRoots: boolean): Matched {
  const below = new Uint8Array(elements.length);
  for (const { order, parent } of elements) {
    if (parent === null) continue;
    const goesOn = roots[parent.order] === 1 || (parent.tag !== 'iframe' && below[parent.order] === 1);
    below[order] = goesOn ? 1 : 0;
  }
  return matched.map((is, at) => is & ((below[at] ?? 0) | (withRoots ? (roots[at] ?? 0) : 0)));
}
