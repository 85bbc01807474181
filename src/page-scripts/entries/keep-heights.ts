import { keepHeights } from '../heights.ts';

/** Keeps the heights that were noted in a window of another height. */
export function run(): void {
  keepHeights();
}
