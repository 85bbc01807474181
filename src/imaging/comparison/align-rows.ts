import { type Part, rowOf } from './pixels.ts';

/** Rows `a` and up of one part that equal rows `b` and up of the other. */
export interface Run {
  readonly a: number;
  readonly b: number;
  readonly rows: number;
}

/** Rows of both parts, `aEnd` and `bEnd` excluded. */
export interface Gap {
  readonly a: number;
  readonly aEnd: number;
  readonly b: number;
  readonly bEnd: number;
}

/** Of the hash of a row: FNV's prime, in lanes. */
const PRIME = 0x01000193;
const LANES = 4;

/** Rows in a band. Tall bands are looked for first: a short one may occur by chance in content that was replaced. */
const BANDS = [16, 4] as const;

/** Tells which rows of two parts are equal. */
export interface RowIndex {
  isSame(a: number, b: number): boolean;
  /** Pairs of rows that begin a band which occurs once in each of the spans, by `a`. */
  uniqueBands(gap: Gap, rows: number): readonly (readonly [a: number, b: number])[];
  /** Number of different rows in a span of `a`. */
  distinct(from: number, to: number): number;
}

export function indexRows(partA: Part, partB: Part): RowIndex {
  const [a, b] = [hashes(partA), hashes(partB)];
  const isSame = (i: number, j: number) => a[i] === b[j] && isEqual(rowOf(partA, i), rowOf(partB, j));
  return {
    isSame,
    uniqueBands: (gap, rows) => {
      const inA = bandsOf(a, gap.a, gap.aEnd, rows);
      const inB = bandsOf(b, gap.b, gap.bEnd, rows);
      return [...inA].flatMap(([band, at]) => {
        const other = inB.get(band);
        return at === null || other == null || !isSame(at, other) ? [] : [[at, other] as const];
      });
    },
    distinct: (from, to) => new Set(a.subarray(from, to)).size,
  };
}

/**
 * Aligns rows as patience diff aligns lines: equal rows at both ends first, then bands that occur once in each image,
 * in the longest sequence that is in order in both; and so on between them. Time: n log n in the number of rows.
 */
export function alignRows(
  index: Pick<RowIndex, 'isSame' | 'uniqueBands'>,
  whole: Gap,
  bands: readonly number[] = BANDS,
): { readonly runs: readonly Run[]; readonly gaps: readonly Gap[] } {
  const runs: Run[] = [];
  const gaps: Gap[] = [];
  const open: Gap[] = [whole];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const gap = trim(next, index, runs);
    if (gap.a === gap.aEnd || gap.b === gap.bEnd) {
      if (gap.a < gap.aEnd || gap.b < gap.bEnd) gaps.push(gap);
      continue;
    }
    const anchors = anchorsIn(gap, index, bands);
    if (anchors.length === 0) {
      gaps.push(gap);
      continue;
    }
    let [a, b] = [gap.a, gap.b];
    for (const [atA, atB] of [...anchors, [gap.aEnd, gap.bEnd] as const]) {
      if (atA > a || atB > b) open.push({ a, aEnd: atA, b, bEnd: atB });
      if (atA < gap.aEnd) runs.push({ a: atA, b: atB, rows: 1 });
      [a, b] = [atA + 1, atB + 1];
    }
  }
  return { runs: joined(runs), gaps: gaps.toSorted((one, other) => one.a - other.a || one.b - other.b) };
}

function anchorsIn(
  gap: Gap,
  index: Pick<RowIndex, 'uniqueBands'>,
  bands: readonly number[],
): readonly (readonly [number, number])[] {
  for (const rows of bands) {
    const anchors = longestInOrder(index.uniqueBands(gap, rows));
    if (anchors.length > 0) return anchors;
  }
  return [];
}

/** Notes the equal rows at the beginning and end of a gap, and returns what is between them. */
function trim({ a, aEnd, b, bEnd }: Gap, { isSame }: Pick<RowIndex, 'isSame'>, runs: Run[]): Gap {
  let start = 0;
  while (a + start < aEnd && b + start < bEnd && isSame(a + start, b + start)) start += 1;
  let end = 0;
  while (a + start < aEnd - end && b + start < bEnd - end && isSame(aEnd - end - 1, bEnd - end - 1)) end += 1;
  if (start > 0) runs.push({ a, b, rows: start });
  if (end > 0) runs.push({ a: aEnd - end, b: bEnd - end, rows: end });
  return { a: a + start, aEnd: aEnd - end, b: b + start, bEnd: bEnd - end };
}

/** Returns the longest sequence of pairs, sorted by their first number, whose second numbers rise. */
export function longestInOrder<T extends readonly [number, number]>(pairs: readonly T[]): readonly T[] {
  /** By length: the pair with the smallest end, and the pair before each one. */
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, value], at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1] ?? -1;
    ends[low] = at;
  });
  const found: T[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) found.push(pair);
  }
  return found.reverse();
}

/** Joins runs that continue each other. */
export function joined(runs: readonly Run[]): readonly Run[] {
  const found: Run[] = [];
  for (const run of runs.toSorted((one, other) => one.a - other.a || one.b - other.b)) {
    const last = found.at(-1);
    if (last !== undefined && last.a + last.rows === run.a && last.b + last.rows === run.b) {
      found[found.length - 1] = { ...last, rows: last.rows + run.rows };
    } else found.push(run);
  }
  return found;
}

/** Returns where each band begins; null when it occurs more than once. */
function bandsOf(rows: Uint32Array, from: number, to: number, height: number): Map<number, number | null> {
  const found = new Map<number, number | null>();
  for (let at = from; at + height <= to; at += 1) {
    let hash = 0;
    for (let row = at; row < at + height; row += 1) hash = Math.imul(hash ^ (rows[row] ?? 0), PRIME);
    found.set(hash, found.has(hash) ? null : at);
  }
  return found;
}

function hashes(part: Part): Uint32Array {
  return Uint32Array.from({ length: part.height }, (_, row) => {
    const pixels = rowOf(part, row);
    const whole = pixels.length - (pixels.length % LANES);
    // Four products at once: each waits only for the one before it in its lane.
    let [h0, h1, h2, h3] = [1, 2, 3, 4];
    for (let at = 0; at < whole; at += LANES) {
      h0 = Math.imul(h0 ^ (pixels[at] ?? 0), PRIME);
      h1 = Math.imul(h1 ^ (pixels[at + 1] ?? 0), PRIME);
      h2 = Math.imul(h2 ^ (pixels[at + 2] ?? 0), PRIME);
      h3 = Math.imul(h3 ^ (pixels[at + 3] ?? 0), PRIME);
    }
    let hash = 0;
    for (const lane of [h0, h1, h2, h3]) hash = Math.imul(hash ^ lane ^ (lane >>> 15), PRIME);
    for (let at = whole; at < pixels.length; at += 1) hash = Math.imul(hash ^ (pixels[at] ?? 0), PRIME);
    return (hash ^ (hash >>> 15)) >>> 0;
  });
}

/** A hash alone would let a page choose rows that count as equal. */
function isEqual(a: Uint32Array, b: Uint32Array): boolean {
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
