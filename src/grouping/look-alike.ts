/** Maximum number of bits, of 64, in which hashes of images that look alike differ. As in the web interface. */
const MAX_DISTANCE = 10;

/**
 * Returns a function that gives each perception hash the first hash before it that is similar, or itself. Pages of a
 * group may so differ by twice the distance, and each belongs to one group.
 */
export function alikeFinder(): (hash: string) => string {
  const leaders: { readonly hash: string; readonly high: number; readonly low: number }[] = [];
  const known = new Map<string, string>();
  return (hash) => {
    const before = known.get(hash);
    if (before !== undefined) return before;
    const [high, low] = [Number.parseInt(hash.slice(0, 8), 16), Number.parseInt(hash.slice(8), 16)];
    const leader = leaders.find((each) => bitsOf(each.high ^ high) + bitsOf(each.low ^ low) <= MAX_DISTANCE);
    if (leader === undefined) leaders.push({ hash, high, low });
    known.set(hash, leader?.hash ?? hash);
    return leader?.hash ?? hash;
  };
}

/** Returns the number of bits that are set in 32. */
function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
