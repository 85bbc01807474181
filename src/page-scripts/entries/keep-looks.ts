import { keepLooks } from '../scrolled/keep-looks.ts';

/** Keeps the looks that were seen while the page was scrolled. */
export function run(): void {
  keepLooks();
}
