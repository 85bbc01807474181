import { z } from 'zod';

/** Known facts of a page: its kind, its main content, and snippets that must and must not be in it. */
export const Truth = z.object({
  type: z.string(),
  main: z.string(),
  with: z.array(z.string()).nullish(),
  without: z.array(z.string()).nullish(),
});

/** Shares from 0 to 1; null for a page that names no snippets. */
export interface Score {
  readonly type: string;
  readonly f1: number;
  readonly with: number | null;
  readonly without: number | null;
}

export function scoreOf(text: string, truth: z.output<typeof Truth>): Score {
  const flat = squeezed(text);
  const share = (snippets: readonly string[] | null | undefined) =>
    snippets == null || snippets.length === 0
      ? null
      : snippets.filter((each) => flat.includes(squeezed(each))).length / snippets.length;
  return { type: truth.type, f1: wordF1(text, truth.main), with: share(truth.with), without: share(truth.without) };
}

export function mean(scores: readonly Score[], of: 'f1' | 'with' | 'without'): number {
  const values = scores.map((each) => each[of]).filter((value) => value !== null);
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Returns the F1 score of the words of a text, as multisets. A word: a run of letters, digits and `_`, in lower case. */
function wordF1(text: string, main: string): number {
  const [found, wanted] = [text, main].map((each) => each.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
  if (found === undefined || wanted === undefined || found.length + wanted.length === 0) return 1;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of found) {
    const count = left.get(word) ?? 0;
    if (count > 0) common += 1;
    left.set(word, count - 1);
  }
  return (2 * common) / (found.length + wanted.length);
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').toLowerCase();
}
