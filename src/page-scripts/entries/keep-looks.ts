import { attachBackdrops } from '../attach-backdrops.ts';
import { keepLooks } from '../scrolled/keep-looks.ts';

/** Keeps the looks that were seen while the page was scrolled, before it is printed. */
export function run(): void {
  keepLooks();
  attachBackdrops();
}
