import { page, rootElementOf } from '../dom.ts';

/** Returns whether the document has a first element yet. */
export function run(): boolean {
  return rootElementOf(page) !== null;
}
