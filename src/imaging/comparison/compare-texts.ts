import { MAX_DIFF_CHARACTERS, type TextDifference } from '../../capture/comparison/comparison.ts';
import { alignRows, type Gap } from './align-rows.ts';
import { type Line, lineOf } from './ignored-texts.ts';

/** Lines of one text that the other one lacks. */
type Hunk = Gap;

/**
 * Compares texts line by line. Lines are aligned as rows of an image are: by those that occur once in each text.
 * `inAnyOrder`: a line that is elsewhere in the other text does not differ.
 */
export function compareTexts(
  before: string,
  after: string,
  { ignored, inAnyOrder }: { readonly ignored: readonly string[]; readonly inAnyOrder: boolean },
): TextDifference {
  let [a, b] = [linesOf(before, ignored), linesOf(after, ignored)];
  if (inAnyOrder) [a, b] = [rest(a, b), rest(b, a)];
  const hunks = inAnyOrder ? [{ a: 0, aEnd: a.length, b: 0, bEnd: b.length }] : hunksOf(a, b);
  const count = (of: (hunk: Hunk) => number) => hunks.reduce((sum, hunk) => sum + of(hunk), 0);
  const unified = hunks
    .filter((hunk) => hunk.aEnd > hunk.a || hunk.bEnd > hunk.b)
    .map((hunk) => textOf(hunk, a, b, inAnyOrder))
    .join('');
  return {
    added: count((hunk) => hunk.bEnd - hunk.b),
    removed: count((hunk) => hunk.aEnd - hunk.a),
    unified: unified.slice(0, MAX_DIFF_CHARACTERS).toWellFormed(),
    truncated: unified.length > MAX_DIFF_CHARACTERS,
  };
}

function hunksOf(a: readonly Line[], b: readonly Line[]): readonly Hunk[] {
  const index = {
    isSame: (i: number, j: number) => a[i]?.words === b[j]?.words,
    uniqueBands: (gap: Gap) => {
      const [inA, inB] = [placesOf(a, gap.a, gap.aEnd), placesOf(b, gap.b, gap.bEnd)];
      return [...inA].flatMap(([line, at]) => {
        const other = inB.get(line);
        return at === null || other == null ? [] : [[at, other] as const];
      });
    },
  };
  return alignRows(index, { a: 0, aEnd: a.length, b: 0, bEnd: b.length }, [1]).gaps;
}

/** Returns where each line is; null when it occurs more than once. */
function placesOf(lines: readonly Line[], from: number, to: number): ReadonlyMap<string, number | null> {
  const found = new Map<string, number | null>();
  for (let at = from; at < to; at += 1) {
    const line = lines[at]?.words ?? '';
    found.set(line, found.has(line) ? null : at);
  }
  return found;
}

/** Blank lines say nothing. */
function linesOf(text: string, ignored: readonly string[]): readonly Line[] {
  return text
    .split('\n')
    .map((line) => lineOf(line, ignored))
    .filter(({ words }) => words !== '');
}

/** Returns the lines that the others lack. A line that occurs twice here and once there is returned once. */
function rest(lines: readonly Line[], others: readonly Line[]): readonly Line[] {
  const left = new Map<string, number>();
  for (const { words } of others) left.set(words, (left.get(words) ?? 0) + 1);
  return lines.filter(({ words }) => {
    const count = left.get(words) ?? 0;
    if (count > 0) left.set(words, count - 1);
    return count === 0;
  });
}

function textOf(hunk: Hunk, a: readonly Line[], b: readonly Line[], inAnyOrder: boolean): string {
  const lines = [
    ...a.slice(hunk.a, hunk.aEnd).map(({ shown }) => `-${shown}\n`),
    ...b.slice(hunk.b, hunk.bEnd).map(({ shown }) => `+${shown}\n`),
  ].join('');
  return inAnyOrder ? lines : `@@ -${placeOf(hunk.a, hunk.aEnd)} +${placeOf(hunk.b, hunk.bEnd)} @@\n${lines}`;
}

/** As unified diffs write it: the first line, from 1, or the line before when there is none. */
function placeOf(from: number, to: number): string {
  return `${to > from ? from + 1 : from},${to - from}`;
}
