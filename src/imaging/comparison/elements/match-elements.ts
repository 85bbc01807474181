import { longestInOrder } from '../align-rows.ts';
import { hashOf, mixed } from './hash.ts';
import { type PageElement, type PageTree, withDescendants } from './page-tree.ts';

/** Longer lists are matched by names alone. */
const MAX_WEIGHED = 300;
const MAX_CELLS = 40_000;

/** Two trees, of which each element is matched with at most one of the other. */
export interface Matching {
  /** For each element of `b`, in order: the element of `a` that it was before. */
  readonly before: ReadonlyMap<PageElement, PageElement>;
  /** Elements of `a` that are gone, the outermost ones. */
  readonly removed: readonly PageElement[];
  /** Elements of `b` that are new, the outermost ones. */
  readonly inserted: readonly PageElement[];
  /** Elements that are in another place among their siblings, or below another one. */
  readonly moved: readonly (readonly [a: PageElement, b: PageElement])[];
}

/** Matches the elements of two captures, as a diff of trees: first by their content, then by their names. */
export function matchElements(a: PageTree, b: PageTree): Matching {
  const [ofA, ofB] = [signatures(a), signatures(b)];
  const before = new Map<PageElement, PageElement>();
  const moved: (readonly [PageElement, PageElement])[] = [];
  const [gone, came]: [PageElement[], PageElement[]] = [[], []];
  const isSame = (one: PageElement, other: PageElement) => ofA[one.order] === ofB[other.order];
  const [rootA, rootB] = [a.elements[0], b.elements[0]];
  const open: (readonly [PageElement, PageElement])[] = rootA && rootB ? [[rootA, rootB]] : [];
  const matchOpen = () => {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [one, other] = next;
      before.set(other, one);
      const children = matchLists(one.children, other.children, isSame);
      open.push(...children.pairs, ...children.moved);
      moved.push(...children.moved);
      gone.push(...children.removed);
      came.push(...children.inserted);
    }
  };
  matchOpen();
  const across = pairsByContent(gone, came, ofA, ofB);
  moved.push(...across);
  open.push(...across);
  matchOpen();
  const paired = new Set(across.flat());
  const [lastA, lastB] = [lastOf(before.values()), lastOf(before.keys())];
  // When a map was cut, nothing is known about elements beyond its end.
  const isKnown = (element: PageElement, other: PageTree, last: number) => !other.isPartial || element.order < last;
  return {
    before,
    moved,
    removed: gone.filter((element) => !paired.has(element) && isKnown(element, b, lastA)),
    inserted: came.filter((element) => !paired.has(element) && isKnown(element, a, lastB)),
  };
}

function lastOf(elements: Iterable<PageElement>): number {
  let last = -1;
  for (const { order } of elements) last = Math.max(last, order);
  return last;
}

interface Matched {
  readonly pairs: readonly (readonly [PageElement, PageElement])[];
  readonly moved: readonly (readonly [PageElement, PageElement])[];
  readonly removed: readonly PageElement[];
  readonly inserted: readonly PageElement[];
}

type IsSame = (a: PageElement, b: PageElement) => boolean;

function matchLists(listA: readonly PageElement[], listB: readonly PageElement[], isSame: IsSame): Matched {
  const pairs: (readonly [PageElement, PageElement])[] = [];
  let start = 0;
  let [endA, endB] = [listA.length, listB.length];
  const note = (one: PageElement | undefined, other: PageElement | undefined): boolean => {
    if (one === undefined || other === undefined || !isSame(one, other)) return false;
    pairs.push([one, other]);
    return true;
  };
  while (start < Math.min(endA, endB) && note(listA[start], listB[start])) start += 1;
  while (Math.min(endA, endB) > start && note(listA[endA - 1], listB[endB - 1])) [endA, endB] = [endA - 1, endB - 1];
  const [a, b] = [listA.slice(start, endA), listB.slice(start, endB)];
  const anchors = uniquePairs(a, b, isSame);
  const kept = longestOf(
    anchors.map(([one, other]) => [a.indexOf(one), b.indexOf(other)] as const),
    a,
  );
  const isKept = new Set(kept.map(([at]) => a[at]));
  const moved = anchors.filter(([one]) => !isKept.has(one));
  const isMoved = new Set(moved.flat());
  const [removed, inserted]: [PageElement[], PageElement[]] = [[], []];
  let [fromA, fromB] = [0, 0];
  for (const [atA, atB] of [...kept, [a.length, b.length] as const]) {
    const between = inGap(
      a.slice(fromA, atA).filter((each) => !isMoved.has(each)),
      b.slice(fromB, atB).filter((each) => !isMoved.has(each)),
      isSame,
    );
    pairs.push(...between.pairs);
    removed.push(...between.removed);
    inserted.push(...between.inserted);
    const [one, other] = [a[atA], b[atB]];
    if (one !== undefined && other !== undefined) pairs.push([one, other]);
    [fromA, fromB] = [atA + 1, atB + 1];
  }
  return { pairs, moved, removed, inserted };
}

/** Returns the pairs whose content occurs exactly once in each list, by their places in `a`. */
function uniquePairs(
  a: readonly PageElement[],
  b: readonly PageElement[],
  isSame: IsSame,
): readonly (readonly [PageElement, PageElement])[] {
  if (a.length * b.length > MAX_CELLS * 10) return [];
  return a.flatMap((one) => {
    if (!hasContent(one)) return [];
    const alike = b.filter((other) => isSame(one, other));
    const [other] = alike;
    const isUnique = alike.length === 1 && other !== undefined && a.filter((each) => isSame(each, other)).length === 1;
    return isUnique ? [[one, other] as const] : [];
  });
}

/** False for elements without words, images and names, which are equal by chance. */
function hasContent(element: PageElement): boolean {
  for (const each of withDescendants([element])) {
    if (each.texts.length > 0 || each.image !== undefined || each.id !== undefined) return true;
  }
  return false;
}

/** Returns the most pairs in the same order in both lists. Of equally many, prefers unmoved and large elements. */
function longestOf(
  pairs: readonly (readonly [number, number])[],
  a: readonly PageElement[],
): readonly (readonly [number, number])[] {
  if (pairs.length > MAX_WEIGHED) return longestInOrder(pairs);
  const areaOf = (at: number) => (a[at]?.box?.width ?? 0) * (a[at]?.box?.height ?? 0) + 1;
  const max = pairs.reduce((sum, [at]) => sum + areaOf(at), 1);
  const worth = ([one, other]: readonly [number, number]) =>
    max * (pairs.length + 1) + (one === other ? max : 0) + areaOf(one);
  const sums: number[] = [];
  const last: number[] = [];
  for (const [at, pair] of pairs.entries()) {
    let [best, from] = [0, -1];
    for (let earlier = 0; earlier < at; earlier += 1) {
      if ((pairs[earlier]?.[1] ?? 0) < pair[1] && (sums[earlier] ?? 0) > best)
        [best, from] = [sums[earlier] ?? 0, earlier];
    }
    sums.push(best + worth(pair));
    last.push(from);
  }
  const found: (readonly [number, number])[] = [];
  for (let at = sums.indexOf(Math.max(...sums)); at >= 0; at = last[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) found.push(pair);
  }
  return found.reverse();
}

/** Matches the elements between pairs: as many as possible in order, by content, names and common words. */
function inGap(a: readonly PageElement[], b: readonly PageElement[], isSame: IsSame): Omit<Matched, 'moved'> {
  if (a.length === 0 || b.length === 0) return { pairs: [], removed: a, inserted: b };
  if (a.length * b.length > MAX_CELLS) return byName(a, b);
  const columns = b.length + 1;
  const sums = new Float64Array((a.length + 1) * columns);
  const likeness = (one: number, other: number) => {
    const [x, y] = [a[one], b[other]];
    return x === undefined || y === undefined ? 0 : likenessOf(x, y, isSame);
  };
  const known = Float64Array.from({ length: a.length * b.length }, (_, at) =>
    likeness(Math.floor(at / b.length), at % b.length),
  );
  for (let one = a.length - 1; one >= 0; one -= 1) {
    for (let other = b.length - 1; other >= 0; other -= 1) {
      const like = known[one * b.length + other] ?? 0;
      const both = like > 0 ? like + (sums[(one + 1) * columns + other + 1] ?? 0) : 0;
      sums[one * columns + other] = Math.max(
        both,
        sums[(one + 1) * columns + other] ?? 0,
        sums[one * columns + other + 1] ?? 0,
      );
    }
  }
  const pairs: (readonly [PageElement, PageElement])[] = [];
  const [removed, inserted]: [PageElement[], PageElement[]] = [[], []];
  let [one, other] = [0, 0];
  while (one < a.length || other < b.length) {
    const [x, y] = [a[one], b[other]];
    const here = sums[one * columns + other] ?? 0;
    const like = x === undefined || y === undefined ? 0 : (known[one * b.length + other] ?? 0);
    if (
      x !== undefined &&
      y !== undefined &&
      like > 0 &&
      here === like + (sums[(one + 1) * columns + other + 1] ?? 0)
    ) {
      pairs.push([x, y]);
      [one, other] = [one + 1, other + 1];
    } else if (x !== undefined && (y === undefined || here === (sums[(one + 1) * columns + other] ?? 0))) {
      removed.push(x);
      one += 1;
    } else if (y !== undefined) {
      inserted.push(y);
      other += 1;
    }
  }
  return { pairs, removed, inserted };
}

function likenessOf(a: PageElement, b: PageElement, isSame: IsSame): number {
  if (a.tag !== b.tag) return 0;
  if (isSame(a, b)) return 8;
  const sharesWords = sharesTexts(a, b);
  if (a.id !== undefined && a.id === b.id) return sharesWords ? 6 : 4;
  if (a.id === b.id && a.class === b.class) return sharesWords ? 5 : 3;
  return sharesWords ? 2 : 0;
}

function sharesTexts(a: PageElement, b: PageElement): boolean {
  const words = new Set(textsIn(a));
  return textsIn(b).some((hash) => words.has(hash));
}

/** Hashes of the first texts in an element. */
function textsIn(element: PageElement): readonly number[] {
  const found: number[] = [];
  const open = [element];
  for (let next = open.pop(); next !== undefined && found.length < 50; next = open.pop()) {
    found.push(...next.texts.map(({ hash }) => hash));
    open.push(...next.children.slice(0, 50).reverse());
  }
  return found;
}

function byName(a: readonly PageElement[], b: readonly PageElement[]): Omit<Matched, 'moved'> {
  const nameOf = ({ tag, id = '', class: classes = '' }: PageElement) => `${tag}#${id}.${classes}`;
  const pairs: (readonly [PageElement, PageElement])[] = [];
  const [removed, inserted]: [PageElement[], PageElement[]] = [[], []];
  let from = 0;
  for (const one of a) {
    const at = b.findIndex((other, place) => place >= from && place < from + 100 && nameOf(other) === nameOf(one));
    const other = b[at];
    if (other === undefined) {
      removed.push(one);
      continue;
    }
    inserted.push(...b.slice(from, at));
    pairs.push([one, other]);
    from = at + 1;
  }
  return { pairs, removed, inserted: [...inserted, ...b.slice(from)] };
}

/** Finds moved elements: removed in one place, new in another, with words and content that occur once in both. */
function pairsByContent(
  gone: readonly PageElement[],
  came: readonly PageElement[],
  ofA: Float64Array,
  ofB: Float64Array,
): readonly (readonly [PageElement, PageElement])[] {
  const byContent = new Map<number, PageElement[]>();
  for (const element of came) {
    const key = ofB[element.order] ?? 0;
    byContent.set(key, [...(byContent.get(key) ?? []), element]);
  }
  const seen = new Map<number, number>();
  for (const element of gone) seen.set(ofA[element.order] ?? 0, (seen.get(ofA[element.order] ?? 0) ?? 0) + 1);
  return gone.flatMap((element) => {
    const key = ofA[element.order] ?? 0;
    const [other, ...others] = byContent.get(key) ?? [];
    const isUnique = other !== undefined && others.length === 0 && seen.get(key) === 1;
    return isUnique && hasContent(element) ? [[element, other] as const] : [];
  });
}

/** Returns a hash of the content of each element: its tag, id, words and images, and those in it. */
function signatures({ elements }: PageTree): Float64Array {
  const found = new Float64Array(elements.length);
  for (const { order, tag, id, texts, image, children } of elements.toReversed()) {
    let hash = hashOf(`${tag}#${id ?? ''} ${image ?? ''}`);
    for (const text of texts) hash = mixed(hash, text.hash);
    for (const child of children) if (child.tag !== 'wbr') hash = mixed(hash, found[child.order] ?? 0);
    found[order] = hash;
  }
  return found;
}
