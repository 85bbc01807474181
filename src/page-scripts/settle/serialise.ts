import {
  cloneOf,
  contentTypeOf,
  doctypeOf,
  htmlOf,
  htmlWithin,
  type PageElement,
  type PageFragment,
  type PageParent,
  page,
  rootElementOf,
  select,
  shadowOf,
} from '../dom/dom.ts';
import { web } from '../dom/web.ts';

/**
 * Maximum number of shadow trees in a snapshot, and of shadow trees around one: the browser writes them recursively.
 */
const MAX_TREES = 5_000;
const MAX_DEPTH = 50;

/** Returns the document as HTML, with its open shadow trees as declarative ones. */
export function serialise(): string {
  const doctype = doctypeOf(page);
  const root = rootElementOf(page);
  const head = doctype === null ? '' : `${new web.XMLSerializer().serializeToString(doctype)}\n`;
  return head + (root === null ? '' : wholeElement(root));
}

function wholeElement(root: PageElement): string {
  const shadowRoots = contentTypeOf(page) === 'text/html' ? shadowRootsIn(root) : [];
  if (shadowRoots.length === 0) return htmlOf(root);
  const tags = htmlOf(cloneOf(root, false));
  const end = tags.lastIndexOf('</');
  return tags.slice(0, end) + htmlWithin(root, { shadowRoots }) + tags.slice(end);
}

function shadowRootsIn(root: PageElement): readonly PageFragment[] {
  const found: PageFragment[] = [];
  let level: readonly PageParent[] = [root];
  for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth += 1) {
    const next: PageFragment[] = [];
    for (const tree of level) {
      for (const element of select(tree, '*')) {
        const shadow = shadowOf(element);
        if (shadow === null) continue;
        if (found.push(shadow) === MAX_TREES) return found;
        next.push(shadow);
      }
    }
    level = next;
  }
  return found;
}
