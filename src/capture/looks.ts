/*
 * Perception hashes, by which captures look alike: 64 bits in 16 hexadecimal digits. Without imports, because browsers
 * load it, too.
 */

/** Maximum number of bits in which the perception hashes of captures that look alike differ. */
const MAX_DISTANCE = 10;

interface Hashed {
  readonly perception_hash: string | null;
}

/**
 * Groups captures that look alike, the largest group first. Each capture joins the first group whose first member it
 * resembles. Captures without a perception hash are left out.
 */
export function groupByLook<T extends Hashed>(captures: readonly T[]): readonly (readonly T[])[] {
  const groups: { readonly high: number; readonly low: number; readonly members: T[] }[] = [];
  for (const capture of captures) {
    const { perception_hash: hash } = capture;
    if (hash === null) continue;
    const [high, low] = [wordOf(hash, 0), wordOf(hash, 8)];
    const group = groups.find((each) => bitsSet(each.high ^ high) + bitsSet(each.low ^ low) <= MAX_DISTANCE);
    if (group === undefined) groups.push({ high, low, members: [capture] });
    else group.members.push(capture);
  }
  return groups.map(({ members }) => members).sort((a, b) => b.length - a.length);
}

/** Returns the number of bits in which two hashes differ. */
export function distanceOf(a: string, b: string): number {
  return bitsSet(wordOf(a, 0) ^ wordOf(b, 0)) + bitsSet(wordOf(a, 8) ^ wordOf(b, 8));
}

/** Returns the number of bits that are set in a number of 32 bits. */
export function bitsSet(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

function wordOf(hash: string, from: number): number {
  return Number.parseInt(hash.slice(from, from + 8), 16) | 0;
}
