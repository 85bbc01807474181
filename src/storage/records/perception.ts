import { bitsSet } from '../../capture/finding/looks.ts';

/*
 * Finds hashes that differ in a few bits by an index. A hash of 64 bits is cut into four bands of 16. If two hashes
 * differ in at most five bits, the first or second band differs in at most one bit, or the third or fourth in none;
 * otherwise at least six bits would differ. So only hashes that share a neighbouring value of one of the four bands are
 * compared: 36 band values for 5 bits, and 2,788 of 262,144 for 15 bits, the maximum.
 */

const BANDS = [0, 1, 2, 3] as const;
/** Number of bits in a band. The band's number is stored in the bits above them. */
export const BAND_BITS = 16;

/**
 * Returns the bands of a hash, each with its number in the upper bits. A row of the image is a byte of the hash; a band
 * takes two columns of every row, so that a page with a plain header or footer does not produce bands that most pages
 * share.
 */
export function bandsOf(hash: string): readonly number[] {
  const rows = rowsOf(hash);
  return BANDS.map((band) =>
    rows.reduce((value, row) => (value << 2) | (((row >> (7 - band)) & 1) << 1) | ((row >> (3 - band)) & 1), band),
  );
}

/** Returns the bands that a hash within `distance` bits may have: one of its four is among these. */
export function bandsNear(hash: string, distance: number): readonly number[] {
  return bandsOf(hash).flatMap((band, at) => masksOf(bitsOf(at, distance)).map((mask) => band ^ mask));
}

/** Returns the first band of `hash` that leads to `other` within that distance; -1 when none does. */
export function firstBandNear(hash: string, other: string, distance: number): number {
  const others = bandsOf(other);
  return bandsOf(hash).findIndex((band, at) => bitsSet(band ^ (others[at] ?? ~band)) <= bitsOf(at, distance));
}

/** Returns the number of bits in which a band may differ; -1 where the bands before it lead to all hashes. */
function bitsOf(band: number, distance: number): number {
  return Math.floor((distance - band) / BANDS.length);
}

/** Returns the 16-bit numbers with at most `bits` bits set, fewest first. */
function masksOf(bits: number): readonly number[] {
  if (bits < 0) return [];
  let newest = [0];
  const masks = [...newest];
  for (let set = 1; set <= bits; set += 1) {
    // Only bits above all set ones are added, so that each mask is generated once.
    newest = newest.flatMap((mask) => {
      const above = 32 - Math.clz32(mask);
      return Array.from({ length: BAND_BITS - above }, (_, at) => mask | (1 << (above + at)));
    });
    masks.push(...newest);
  }
  return masks;
}

function rowsOf(hash: string): readonly number[] {
  return Array.from({ length: 8 }, (_, row) => Number.parseInt(hash.slice(row * 2, row * 2 + 2), 16));
}
