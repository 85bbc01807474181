import { once } from '../capture/basics/once.ts';

/**
 * Returns how many of `free` places an owner with `own` places may take: afterwards it holds at most one place more than
 * remain free, so a single owner can fill only half of all places. An owner without any may take one.
 */
export function shareOf(free: number, own: number): number {
  return Math.min(free, Math.max(own === 0 ? 1 : 0, Math.ceil((free - own) / 2)));
}

/**
 * Returns how much (rows or bytes) to remove from each owner so that `excess` in all is removed. It is always taken
 * from the owner that `has` the most, so an owner with little loses nothing.
 */
export function cutsOf<Owner>(has: ReadonlyMap<Owner, number>, excess: number): ReadonlyMap<Owner, number> {
  if (excess <= 0) return new Map();
  const bySize = [...has].toSorted(([, a], [, b]) => b - a);
  const cuts = new Map<Owner, number>();
  let sum = 0;
  for (const [at, [, size]] of bySize.entries()) {
    sum += size;
    // The size to which the owners so far are cut, unless the next owner has more than that.
    const level = (sum - excess) / (at + 1);
    if (level < (bySize[at + 1]?.[1] ?? 0)) continue;
    for (const [owner, own] of bySize.slice(0, at + 1)) cuts.set(owner, Math.ceil(own - Math.max(0, level)));
    break;
  }
  return cuts;
}

/** Creates a count of places that owners hold. An owner of null stands for all callers without one. */
export function createPlaceCount() {
  const ofOwner = new Map<string | null, number>();
  let all = 0;
  const of = (owner: string | null): number => ofOwner.get(owner) ?? 0;
  return {
    get all() {
      return all;
    },
    of,
    change(owner: string | null, by: number): void {
      const own = of(owner) + by;
      if (own === 0) ofOwner.delete(owner);
      else ofOwner.set(owner, own);
      all += by;
    },
  };
}

/** Places that owners share, where nothing waits for one. */
export interface Places {
  readonly taken: number;
  /** Whether there is a place for this owner. */
  has(owner: string | null): boolean;
  /** Takes a place. Returns a function that gives it back, once; undefined when there is none for this owner. */
  take(owner: string | null): (() => void) | undefined;
}

/**
 * Creates as many places as `capacity` returns. `allows`: whether an owner that holds `own` places may take one of
 * `free`; by default it may fill half of them. An owner of null, which has no share of its own, may take them all.
 */
export function createPlaces(
  capacity: () => number,
  allows = (free: number, own: number): boolean => shareOf(free, own) >= 1,
): Places {
  const taken = createPlaceCount();
  const has = (owner: string | null): boolean => {
    const free = capacity() - taken.all;
    return free >= 1 && (owner === null || allows(free, taken.of(owner)));
  };
  return {
    get taken() {
      return taken.all;
    },
    has,
    take(owner) {
      if (!has(owner)) return undefined;
      taken.change(owner, +1);
      return once(() => taken.change(owner, -1));
    },
  };
}
