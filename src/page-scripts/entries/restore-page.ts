import { undoAll } from '../archive/undo.ts';

/** Takes back what `prepare-archive` has changed. */
export function run(): void {
  undoAll();
}
