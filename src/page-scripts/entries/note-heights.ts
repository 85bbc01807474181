import { noteHeights } from '../heights.ts';

/** Notes heights that `keep-heights` keeps. */
export function run(): void {
  noteHeights();
}
