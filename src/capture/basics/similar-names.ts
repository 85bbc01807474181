/** Minimum similarity of a suggested name: `fullpge` has 0.73 with `fullPage`, `width` 0.33 with `waitUntil`. */
const MIN_LIKENESS = 0.5;

/** Returns the candidates most similar to `name`, most similar first, at most `max`. */
export function mostSimilar(name: string, candidates: readonly string[], max: number): readonly string[] {
  return ranked(name, candidates)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

/** Maximum number of characters of a name that is compared. */
const MAX_COMPARED_CHARACTERS = 100;

let left = Number.POSITIVE_INFINITY;

/** Does work in which at most `max` names are compared by `suggestion`: a request can be full of unknown names. */
export function withSuggestions<T>(max: number, work: () => T): T {
  left = max;
  try {
    return work();
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}

/** Returns a part of an error text that asks which names were meant; empty when none is similar. */
export function suggestion(names: readonly string[], candidates: readonly string[]): string {
  const compared = names.slice(0, left).filter((name) => name.length <= MAX_COMPARED_CHARACTERS);
  left -= compared.length;
  const best = compared.flatMap((name) => ranked(name, candidates).slice(0, 1));
  const meant = new Set(best.filter((each) => each.likeness >= MIN_LIKENESS).map(({ candidate }) => candidate));
  return meant.size === 0 ? '' : `; did you mean ${[...meant].join(', ')}?`;
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
