import { z } from 'zod';

/** Known facts of a page: its kind, its main content, and snippets that must and must not be in it. */
export const Truth = z.object({
  type: z.string(),
  main: z.string(),
  with: z.array(z.string()).nullish(),
  without: z.array(z.string()).nullish(),
});
export type Truth = z.output<typeof Truth>;

/** Shares from 0 to 1; null for a page that names no snippets. */
export interface Score {
  readonly type: string;
  readonly f1: number;
  readonly with: number | null;
  readonly without: number | null;
}

export function scoreOf(text: string, truth: Truth): Score {
  const flat = squeezed(text);
  const share = (snippets: readonly string[] | null | undefined) =>
    snippets == null || snippets.length === 0
      ? null
      : snippets.filter((each) => flat.includes(squeezed(each))).length / snippets.length;
  const f1 = wordF1(countWords(text), countWords(truth.main));
  return { type: truth.type, f1, with: share(truth.with), without: share(truth.without) };
}

export function mean(scores: readonly Score[], of: 'f1' | 'with' | 'without'): number {
  const values = scores.map((each) => each[of]).filter((value) => value !== null);
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Returns how often each word is in a text: runs of letters, digits and `_`, in lower case. */
function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Returns the F1 score of the words of a text, as multisets. */
function wordF1(found: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): number {
  const size = (counts: ReadonlyMap<string, number>) => counts.values().reduce((sum, count) => sum + count, 0);
  const common = [...found].reduce((sum, [word, count]) => sum + Math.min(count, wanted.get(word) ?? 0), 0);
  const total = size(found) + size(wanted);
  return total === 0 ? 1 : (2 * common) / total;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').toLowerCase();
}
