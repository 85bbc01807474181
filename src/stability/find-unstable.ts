import { areaOf, intersection } from '../capture/comparison/boxes.ts';
import { MAX_PLACES, type Place } from '../capture/comparison/comparison.ts';
import { PAGE_TAGS } from '../capture/comparison/element-map.ts';
import type { Cause, UnstableElement } from '../capture/comparison/stability.ts';

/** Two captures of a check that were compared. */
export interface Compared {
  readonly before: number;
  readonly after: number;
}

/** The comparisons of a check. Those named after the varied factor compare a capture with the first one. */
export interface Comparisons {
  /** Nothing was varied. */
  readonly again: Compared;
  readonly clock: Compared;
  readonly randomness: Compared;
  readonly animation: Compared;
  /** The first capture with each later one, and each of these with the one before it. */
  readonly later: readonly Compared[];
  readonly inTurn: readonly Compared[];
  /** The first capture with one without advertisers, and two captures without advertisers. */
  readonly withoutAds: Compared;
  readonly bothWithoutAds: Compared;
}

/** A part of the page in which something differs. */
interface Spot {
  readonly places: Place[];
  /** The comparisons in which it differs. */
  readonly seen: Compared[];
}

/** Two boxes are at the same place when they share at least this much of the smaller one. */
const SAME_SHARE = 0.5;
/** An element stands for the unstable ones in it when it is at most this many times as large. */
const MAX_AROUND = 3;
/** Elements whose content moves without a script or a change of address. */
const MEDIA = new Set(['img', 'picture', 'video', 'canvas', 'object', 'embed']);

/** The parts of a page in which captures differ, collected comparison by comparison. */
export class Spots {
  readonly #spots: Spot[] = [];
  #isCut = false;

  /** Whether a comparison had more places than it told. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get all(): readonly Spot[] {
    return this.#spots;
  }

  /** Groups differences by their place on the page. Elements that replace each other are in the same group. */
  add(compared: Compared, around: readonly Place[]): void {
    const spots = this.#spots;
    this.#isCut ||= around.length >= MAX_PLACES;
    for (const place of around) {
      const same = spots.filter(({ places }) => places.some((other) => isSame(place, other)));
      const [spot = { places: [], seen: [] }, ...others] = same;
      for (const other of others) {
        spot.places.push(...other.places);
        spot.seen.push(...other.seen);
        spots.splice(spots.indexOf(other), 1);
      }
      if (same.length === 0) spots.push(spot);
      if (!spot.places.some(({ key }) => key === place.key)) spot.places.push(place);
      if (!spot.seen.includes(compared)) spot.seen.push(compared);
    }
  }
}

/** Returns the elements that do not look the same in all captures, from top to bottom. */
export function findUnstable(spots: Spots, comparisons: Comparisons): readonly UnstableElement[] {
  const found = spots.all.map((spot) => ({ spot, cause: causeOf(spot, comparisons) }));
  const named = found.flatMap(({ spot, cause }) => elementsOf(spot).map((place) => ({ spot, cause, place })));
  return joined(named)
    .map(({ spot: { seen }, cause, place: { selector, box } }) => {
      const { before = 0, after = 0 } = seen[0] ?? {};
      return { selector, cause, box, before, after };
    })
    .toSorted((one, other) => one.box.y - other.box.y || one.box.x - other.box.x);
}

/**
 * Whether two places are the same part of the page: one is in the other, or both are at the same place in one element,
 * such as the slides of a carousel. Others can be at the same place because content above was inserted.
 */
function isSame(one: Place, other: Place): boolean {
  if (one.key === other.key) return true;
  // An element that holds the whole page is not the same part as an element inside it.
  if (PAGE_TAGS.has(one.tag) !== PAGE_TAGS.has(other.tag)) return false;
  if (isWithin(one, other) || isWithin(other, one)) return true;
  if (one.within[0] !== other.within[0]) return false;
  return areaOf(intersection(one.box, other.box)) >= SAME_SHARE * Math.min(areaOf(one.box), areaOf(other.box));
}

function causeOf(
  { places, seen }: Spot,
  { again, clock, randomness, animation, later, inTurn, withoutAds, bothWithoutAds }: Comparisons,
): Cause {
  const differs = (compared: Compared) => seen.includes(compared);
  const isUncontrolled = differs(again);
  if (isUncontrolled ? !differs(bothWithoutAds) : differs(withoutAds)) return 'ad';
  if (places.some(({ isAd }) => isAd)) return 'ad';
  if (!isUncontrolled) {
    if (differs(clock)) return 'clock';
    if (differs(randomness)) return 'randomness';
    if (differs(animation)) return 'animation';
  }
  const steps = inTurn.map(differs);
  // Changes over time: from the first capture to the first later one, then from each later one to the next.
  const changes = steps.filter((step) => step).length + (later[0] !== undefined && differs(later[0]) ? 1 : 0);
  if (places.every(({ tag }) => MEDIA.has(tag))) return 'animation';
  if (isUncontrolled) return changes === 0 ? 'lazy_load' : 'server';
  return changes === 1 && steps.at(-1) !== true ? 'lazy_load' : 'carousel';
}

/** Returns the elements of a spot without those that are in others of them. */
function elementsOf({ places }: Spot): readonly Place[] {
  const keys = new Set(places.map(({ key }) => key));
  return places.filter(({ within }) => !within.some((key) => keys.has(key)));
}

interface Named {
  readonly spot: Spot;
  readonly cause: Cause;
  readonly place: Place;
}

/** Replaces several unstable elements with the same cause by the element around them, when it holds little else. */
function joined(named: readonly Named[]): readonly Named[] {
  const groups = Map.groupBy(named, ({ cause, place: { around } }) => `${cause} ${around?.selector}`);
  const found = [...groups.values()].flatMap((group): readonly Named[] => {
    const [first] = group;
    const around = first?.place.around;
    if (first === undefined || around === null || around === undefined || group.length === 1) return group;
    const inside = group.reduce((sum, { place }) => sum + areaOf(place.box), 0);
    if (areaOf(around.box) > MAX_AROUND * inside) return group;
    return [{ ...first, place: { ...first.place, ...around } }];
  });
  return [...Map.groupBy(found, ({ place }) => place.selector).values()].flatMap(([first]) => first ?? []);
}

function isWithin(inner: Place, outer: Place): boolean {
  return inner.within.includes(outer.key);
}
