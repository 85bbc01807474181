import { page, stateOf } from '../dom.ts';

/** Returns whether the document is still being read, or was when its connection broke off. */
export function run(): boolean {
  return stateOf(page) === 'loading';
}
