import type { Marks } from '../../capture/finding/marks.ts';

/** Returns the marks of a record. */
export function marksOf({ labels, note, hold }: Marks): Marks {
  return { labels, note, hold: hold && { at: hold.at, by: hold.by } };
}

export function sameMarks(a: Marks, b: Marks): boolean {
  return JSON.stringify(marksOf(a)) === JSON.stringify(marksOf(b));
}

/** Whether retention has to ask more about a capture than its age. */
export function isMarked({ labels, hold }: Pick<Marks, 'labels' | 'hold'>): boolean {
  return labels.length > 0 || hold !== null;
}
