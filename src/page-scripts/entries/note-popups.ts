import { notePopups } from '../scrolled/popups.ts';
import { scrolled } from '../scrolled/state.ts';

/** Notes what has come over the window while the page was scrolled. */
export function run(): void {
  notePopups(scrolled());
}
