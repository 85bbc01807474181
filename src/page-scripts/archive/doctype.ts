import {
  contentTypeOf,
  createDoctype,
  doctypeOf,
  insertBefore,
  modeOf,
  page,
  remove,
  rootElementOf,
} from '../dom/dom.ts';

/**
 * Gives a document a doctype when it has none and is laid out as if it had one, as `srcdoc` is: its archive would be
 * laid out in quirks mode. Returns what takes it away.
 */
export function nameDoctype(): (() => void)[] {
  const root = rootElementOf(page);
  if (root === null || contentTypeOf(page) !== 'text/html' || doctypeOf(page) !== null || modeOf(page) !== 'CSS1Compat')
    return [];
  const doctype = createDoctype();
  insertBefore(root, doctype);
  return [() => remove(doctype)];
}
