import { areaOf, intersection } from '../../../capture/comparison/boxes.ts';
import { type Box, MAX_PLACES, type Place, type Region } from '../../../capture/comparison/comparison.ts';
import { PAGE_TAGS } from '../../../capture/comparison/element-map.ts';
import type { Explained } from './explain-regions.ts';
import { elementKeys, elementNamer } from './name-element.ts';
import type { PageElement, PageTree } from './page-tree.ts';

/** Maximum distance by which glyphs and shadows extend beyond their element, in pixels. */
const MARGIN = 3;
/** A region stands for an element when the element is at most this many times as large. */
const MAX_WHOLE = 1.2;
/** Maximum number of elements that a region is divided among. */
const MAX_PARTS = 30;
/** Maximum number of elements around an element: a page decides how deep it is. */
const MAX_ANCESTORS = 10;

/**
 * Returns the smallest elements around the regions, each once: of the first capture for what was removed, otherwise of
 * the second.
 */
export function placeRegions(
  regions: readonly Region[],
  { trees: { a, b }, matching }: Pick<Explained, 'trees' | 'matching'>,
): readonly Place[] {
  const [inA, inB] = [placer(a, () => undefined), placer(b, (element) => matching.before.get(element))];
  const found = new Map<number, Place>();
  for (const { kind, from, to } of regions) {
    const around = to !== null ? inB(to, kind) : from !== null ? inA(from, kind) : [];
    for (const place of around) found.set(place.key, place);
    if (found.size >= MAX_PLACES) break;
  }
  return [...found.values()].slice(0, MAX_PLACES);
}

/** `before`: returns the counterpart of an element in the other capture. */
function placer(
  tree: PageTree,
  before: (element: PageElement) => PageElement | undefined,
): (region: Box, kind: Region['kind']) => readonly Place[] {
  const name = elementNamer(tree);
  const keys = elementKeys(tree);
  const keyOf = ({ order }: PageElement) => keys[order] ?? 0;
  const isAd = advertisements(tree);
  /** Names the parent of an element that moves within it, because it also moves between element map and screenshot. */
  const resting = (element: PageElement): PageElement => {
    const { parent } = element;
    const old = before(element);
    if (parent === null || PAGE_TAGS.has(parent.tag) || old === undefined) return element;
    return isShifted(old, element) ? resting(parent) : element;
  };
  /** An element around several places is one object, which is copied once when they are handed over. */
  const around = new Map<PageElement, Place['around']>();
  const aroundOf = (parent: PageElement | null): Place['around'] => {
    if (!parent?.box || parent.tag === 'iframe') return null;
    const { element, selector } = name(parent);
    const found = around.get(parent) ?? (element.box && { selector, box: element.box });
    around.set(parent, found);
    return found;
  };
  const placeOf = (smallest: PageElement): readonly Place[] => {
    const { element, selector } = name(smallest);
    const { parent, box, tag } = element;
    if (box === null) return [];
    const within = ancestorsOf(element).map(keyOf);
    return [{ key: keyOf(element), selector, tag, box, isAd: isAd(element), around: aroundOf(parent), within }];
  };
  /** Divides a region over several elements among them, unless their parent has words of its own. */
  const divided = (element: PageElement, region: Box): readonly PageElement[] => {
    const inside = element.children.find(({ box }) => box !== null && isIn(region, box));
    if (inside !== undefined) return divided(inside, region);
    const parts = element.children.filter(({ box }) => box !== null && intersection(region, box) !== null);
    if (parts.length === 0 || parts.length > MAX_PARTS || element.texts.length > 0) return [element];
    return parts.flatMap((part) => divided(part, (part.box && intersection(region, part.box)) ?? region));
  };
  return (region, kind) => {
    let [found, smallest]: [PageElement | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const element of tree.elements) {
      if (element.box === null || !isIn(region, element.box) || areaOf(element.box) > smallest) continue;
      [found, smallest] = [element, areaOf(element.box)];
    }
    if (found === undefined) return [];
    // A moved element has another place within its parent.
    const { parent } = found;
    const isMoved = kind === 'moved' && smallest <= areaOf(region) * MAX_WHOLE && parent !== null;
    const parts = isMoved && !PAGE_TAGS.has(parent.tag) ? [parent] : divided(found, region);
    return parts.map(resting).flatMap(placeOf);
  };
}

/** Returns the nearest elements around an element. */
function ancestorsOf({ parent }: PageElement): readonly PageElement[] {
  const found: PageElement[] = [];
  for (let each = parent; each !== null && found.length < MAX_ANCESTORS; each = each.parent) found.push(each);
  return found;
}

function isShifted(one: PageElement, other: PageElement): boolean {
  const [a, b, aroundA, aroundB] = [one.box, other.box, one.parent?.box, other.parent?.box];
  if (a === null || b === null || !aroundA || !aroundB) return false;
  return a.x - aroundA.x !== b.x - aroundB.x || a.y - aroundA.y !== b.y - aroundB.y;
}

function isIn(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x - MARGIN &&
    inner.y >= outer.y - MARGIN &&
    inner.x + inner.width <= outer.x + outer.width + MARGIN &&
    inner.y + inner.height <= outer.y + outer.height + MARGIN
  );
}

const AD = /(?:^|[-_\s])(?:ads?|advert(?:s|isements?|ising)?|adsbygoogle|sponsor(?:ed|s)?|promoted)(?:$|[-_\s])/i;

/** Returns a function that tells whether an element, or one around it, is named as an advertisement. */
function advertisements({ elements }: PageTree): (element: PageElement) => boolean {
  const found = new Set<PageElement>();
  for (const element of elements) {
    const { parent, tag, id = '', class: classes = '' } = element;
    const isNamed = tag !== 'body' && AD.test(`${id} ${classes}`);
    if (isNamed || (parent !== null && found.has(parent))) found.add(element);
  }
  return (element) => found.has(element);
}
