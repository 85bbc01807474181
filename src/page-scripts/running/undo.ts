import { kept } from './kept.ts';

/** The changes of the page to take back. The world keeps them while a file is made of the page. */
const changes = () => kept('undo', () => ({ undo: [] as (() => void)[] }));

/** Adds to what `restorePage` takes back: one that was given up may not have been taken back yet. */
export function undoLater(undo: readonly (() => void)[]): void {
  changes().undo.push(...undo);
}

/** Takes back the last change first. */
export function restorePage(): void {
  const { undo } = changes();
  changes().undo = [];
  for (const each of undo.toReversed()) each();
}
