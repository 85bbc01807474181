import { undoAll } from '../undo.ts';

/** Takes back what `prepare-archive` or `free-members` has changed. */
export function run(): void {
  undoAll();
}
