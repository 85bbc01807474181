import { kept } from '../kept.ts';

/** What takes back the changes of the page for an archive. The world keeps it until the archive is written. */
const changes = () => kept('archive', () => ({ undo: [] as (() => void)[] }));

export function undoLater(undo: readonly (() => void)[]): void {
  changes().undo = [...undo];
}

export function undoAll(): void {
  const { undo } = changes();
  changes().undo = [];
  for (const each of undo) each();
}
