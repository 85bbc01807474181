/** Similarity from which a name is worth suggesting: `fullpge` has 0.73 with `fullPage`, `width` 0.33 with `waitUntil`. */
const MIN_LIKENESS = 0.5;

/** Returns the candidates most similar to `name`, most similar first, at most `max`. */
export function mostSimilar(name: string, candidates: readonly string[], max: number): readonly string[] {
  return ranked(name, candidates)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

/** Returns the end of an error text, which asks whether the most similar name was meant; empty when none is similar. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const best = ranked(name, candidates)[0];
  return best !== undefined && best.likeness >= MIN_LIKENESS ? `; did you mean ${best.candidate}?` : '';
}

function ranked(name: string, candidates: readonly string[]) {
  const wanted = pairs(plain(name));
  return candidates
    .map((candidate) => ({ candidate, likeness: likeness(wanted, pairs(plain(candidate))) }))
    .sort((a, b) => b.likeness - a.likeness);
}

/** Returns the letters and digits of a name: `full_page`, `full-page` and `fullPage` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Dice coefficient of two sets of pairs, 0 to 1. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((pair) => b.has(pair)).length;
  return (2 * shared) / Math.max(1, a.size + b.size);
}

/** Returns the pairs of neighbouring characters. */
function pairs(text: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
}
