import { unfix } from '../unfix.ts';

/** Hides fixed elements but those behind the page, and puts sticky ones where they are at the top of the page. */
export function run(): void {
  unfix();
}
