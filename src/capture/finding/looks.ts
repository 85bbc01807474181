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
  const leaderOf = leaderFinder();
  const groups = new Map<string, T[]>();
  for (const capture of captures) {
    const { perception_hash: hash } = capture;
    if (hash === null) continue;
    const leader = leaderOf(hash);
    const group = groups.get(leader);
    if (group === undefined) groups.set(leader, [capture]);
    else group.push(capture);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/**
 * Returns a function that gives each perception hash the first leader that is similar, or makes it one. Pages of a
 * group may so differ by twice the distance, and each belongs to one group.
 */
export function leaderFinder(): (hash: string) => string {
  const leaders: { readonly hash: string; readonly high: number; readonly low: number }[] = [];
  const known = new Map<string, string>();
  return (hash) => {
    const before = known.get(hash);
    if (before !== undefined) return before;
    const [high, low] = [wordOf(hash, 0), wordOf(hash, 8)];
    const similar = leaders.find((each) => {
      const differing = bitsSet(each.high ^ high) + bitsSet(each.low ^ low);
      if (differing > MAX_DISTANCE) return false;
      // An empty page has few set bits, and a form on it few more: such hashes may differ in half of the bits that either
      // has. One bit is noise.
      return differing === 1 || 2 * differing <= bitsSet(each.high | high) + bitsSet(each.low | low);
    });
    if (similar === undefined) leaders.push({ hash, high, low });
    const leader = similar?.hash ?? hash;
    known.set(hash, leader);
    return leader;
  };
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
