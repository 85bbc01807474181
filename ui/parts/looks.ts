import type { Result } from '../api/types.ts';

/** Maximum number of bits, of 64, in which the perception hashes of captures that look alike differ. */
const MAX_DISTANCE = 10;

type Hashed = Pick<Result, 'perception_hash'>;

/**
 * Groups captures that look alike, the largest group first. Each capture joins the first group whose first member it
 * resembles. Captures without a perception hash are left out.
 */
export function groupByLook<T extends Hashed>(captures: readonly T[]): readonly (readonly T[])[] {
  const groups: { readonly hash: bigint; readonly members: T[] }[] = [];
  for (const capture of captures) {
    if (capture.perception_hash === null) continue;
    const hash = BigInt(`0x${capture.perception_hash}`);
    const group = groups.find((each) => distance(each.hash, hash) <= MAX_DISTANCE);
    if (group === undefined) groups.push({ hash, members: [capture] });
    else group.members.push(capture);
  }
  return groups.map(({ members }) => members).sort((a, b) => b.length - a.length);
}

/** Returns the captures that look different from most of the others; none when no look is that of most. */
export function odd<T extends Hashed>(captures: readonly T[]): readonly T[] {
  const [most = [], ...others] = groupByLook(captures);
  return most.length * 2 > captures.length ? others.flat() : [];
}

function distance(a: bigint, b: bigint): number {
  let bits = 0;
  for (let different = a ^ b; different !== 0n; different &= different - 1n) bits += 1;
  return bits;
}
