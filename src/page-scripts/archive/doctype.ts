import { contentTypeOf, createDoctype, doctypeOf, insertBefore, modeOf, page, remove, rootElementOf } from '../dom.ts';

/**
 * Gives a document without a doctype one when it is laid out as if it had one, as `srcdoc` is. An archive would be laid out
 * otherwise. Returns what takes it away.
 */
export function nameDoctype(): (() => void)[] {
  const root = rootElementOf(page);
  if (root === null || contentTypeOf(page) !== 'text/html' || doctypeOf(page) !== null || modeOf(page) !== 'CSS1Compat')
    return [];
  const doctype = createDoctype();
  insertBefore(root, doctype);
  return [() => remove(doctype)];
}
