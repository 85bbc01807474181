import { page, rootElementOf, textOf } from '../dom.ts';

/** Returns the number of characters of the document's text. */
export function run(): number {
  const root = rootElementOf(page);
  return root === null ? 0 : textOf(root).length;
}
