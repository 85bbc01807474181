import { contentTypeOf, page, rootElementOf } from '../dom.ts';

/** Chromium (156) draws JSON only once it is whole. */
const JSON_TYPE = /[/+]json$/;

/** Returns whether what has come of the document can be drawn when no more of it comes. */
export function run(): boolean {
  return rootElementOf(page) !== null && !JSON_TYPE.test(contentTypeOf(page));
}
