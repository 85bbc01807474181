import { areaOf, union } from '../../../capture/comparison/boxes.ts';
import type { Box, Region } from '../../../capture/comparison/comparison.ts';
import { createCells } from '../cells.ts';
import type { Pixels } from '../pixels.ts';
import type { Edit } from './changed-elements.ts';
import type { Matching } from './match-elements.ts';
import { boxAround, type PageElement, type PageTree, within } from './page-tree.ts';
import { changedPixels, commonOffsets, isElsewhere, type Placed, placedElements, type Side } from './warp.ts';

/** Maximum number of levels between an element and the one whose text it is part of. */
const MAX_INLINE_LEVELS = 3;
/** Maximum distance of list markers and shadows from their element, in pixels. */
const BESIDE = 48;
/** Maximum distance by which letters extend above and below the box of their element, in pixels. */
const OVERHANG = 12;
/** Minimum number of changed pixels of an element: fewer can be edges of letters and lines. */
const MIN_PIXELS = 8;
/** A change with at least this share of an element's width and height is one of the whole element. */
const WHOLE = 0.9;
/** Share of a moved region that may differ: a pixel is alike by its colour, and a row by its hash. */
const MAX_CHANGE_OF_MOVED = 0.02;
/** Number of times that as many pixels as the image has are looked at for inserted elements, and for removed ones. */
const MAX_PASSES = 4;
/** Styles whose change also shows in the descendants of an element. */
const SHOWS_THROUGH = /^(?:background|opacity)/;

export interface Explained {
  readonly trees: { readonly a: PageTree; readonly b: PageTree };
  readonly matching: Matching;
  readonly edits: readonly Edit[];
  /** Elements that do not count. */
  readonly ignored: { readonly a: ReadonlySet<PageElement>; readonly b: ReadonlySet<PageElement> };
}

/**
 * Explains regions in which two images differ by the elements that were inserted, removed, moved or edited. A
 * difference that no element explains stays a region, by its pixels.
 */
export function explainRegions(a: Pixels, b: Pixels, regions: readonly Region[], known: Explained): readonly Region[] {
  const { matching, ignored } = known;
  const { moved: reordered, inserted: came, removed: gone } = matching;
  if (regions.length + reordered.length + came.length + gone.length === 0) return [];
  const after = new Map([...matching.before].map(([other, one]) => [one, other] as const));
  const [inserted, removed] = [counting(matching.inserted, ignored.b), counting(matching.removed, ignored.a)];
  const sideB = sideOf(b, a, known.trees.b, (each) => matching.before.get(each), inserted);
  const sideA = sideOf(a, b, known.trees.a, (each) => after.get(each), removed);
  const moved = movedRegions(matching, a, b, ignored.b).filter(({ from, to }) => differ(a, b, union([from, to])));
  const structural = [
    ...shownGroups(sideB, inGroups(inserted)).map(
      (box): Region => ({ kind: 'inserted', from: null, to: box, pixels: areaOf(box) }),
    ),
    ...shownGroups(sideA, inGroups(removed)).map(
      (box): Region => ({ kind: 'removed', from: box, to: null, pixels: areaOf(box) }),
    ),
    ...moved,
  ];

  const findEdit = editFinder(known.edits);
  const edits = new Map<PageElement, EditedPart>();
  const rest: Region[] = [];
  for (const region of regions) {
    if (region.to === null) continue;
    const cells = createCells();
    let count = 0;
    changedPixels(sideB, region.to, (x, y, placed, isAlone) => {
      if (isAlone) return;
      count += 1;
      const edit = placed === undefined ? undefined : findEdit.of(placed.element);
      if (edit === undefined || placed === undefined) cells.add(x, y);
      else noteEdit(edits, edit, placed, x, y);
    });
    if (region.kind === 'moved' && count <= areaOf(region.to) * MAX_CHANGE_OF_MOVED) continue;
    for (const { box, pixels } of cells.groups()) {
      const isNew = region.kind === 'inserted';
      rest.push({
        kind: isNew ? 'inserted' : 'edited',
        from: isNew ? null : shifted(box, region, a),
        to: box,
        pixels: isNew ? areaOf(box) : pixels,
      });
    }
  }
  for (const region of regions) {
    if (region.kind !== 'removed' || region.from === null) continue;
    const cells = createCells();
    changedPixels(sideA, region.from, (x, y, placed, isAlone) => {
      const other = placed === undefined ? undefined : after.get(placed.element);
      if (!isAlone && (other === undefined || findEdit.of(other) === undefined)) cells.add(x, y);
    });
    for (const { box } of cells.groups()) {
      rest.push({ kind: 'removed', from: box, to: null, pixels: areaOf(box) });
    }
  }
  const parts = [...edits.values()];
  const left = rest.filter(({ from, to, pixels }) => {
    const place = to ?? from;
    if (place === null || pixels < MIN_PIXELS || Math.min(place.width, place.height) === 1) return false;
    if (structural.some((each) => isBeside(place, to === null ? each.from : each.to))) return false;
    if (to !== null && parts.some((part) => takesIn(part, to, pixels))) return false;
    return !isElsewhere(to === null ? sideA : sideB, place);
  });
  return [...structural, ...parts.flatMap((part) => editedRegion(part, a, b)), ...left];
}

function sideOf(
  image: Pixels,
  other: Pixels,
  { elements }: PageTree,
  counterpart: (element: PageElement) => PageElement | undefined,
  alone: readonly PageElement[],
): Side {
  const placed = placedElements(elements, counterpart);
  return {
    image,
    other,
    placed,
    offsets: commonOffsets(placed),
    alone: alone.flatMap(({ box }) => (box === null ? [] : [{ box }])),
  };
}

function counting(elements: readonly PageElement[], ignored: ReadonlySet<PageElement>): readonly PageElement[] {
  return elements.filter((each) => !ignored.has(each));
}

/** Joins siblings that follow each other. */
function inGroups(elements: readonly PageElement[]): readonly (readonly PageElement[])[] {
  const groups: PageElement[][] = [];
  for (const element of elements.toSorted((one, other) => one.order - other.order)) {
    if (boxAround(element) === null) continue;
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && follows(last, element)) group.push(element);
    else groups.push([element]);
  }
  return groups;
}

/** Whether no visible sibling is between two siblings. */
function follows(one: PageElement, other: PageElement): boolean {
  if (one.parent !== other.parent || one.parent === null) return false;
  const { children } = one.parent;
  const between = children.slice(children.indexOf(one) + 1, children.indexOf(other));
  return between.every((each) => boxAround(each) === null);
}

/**
 * Returns the boxes of groups that paint something that the other image lacks. A page can put thousands of groups over
 * each other: those beyond the bound count as painted.
 */
function shownGroups(side: Side, groups: readonly (readonly PageElement[])[]): readonly Box[] {
  let pixelsLeft = MAX_PASSES * areaOf(side.image);
  return groups.flatMap((group) => {
    const box = within(union(group.map(boxAround)) ?? { x: 0, y: 0, width: 0, height: 0 }, side.image);
    if (box === null) return [];
    pixelsLeft -= areaOf(box);
    if (pixelsLeft < 0) return [box];
    let isShown = false;
    changedPixels({ ...side, alone: [] }, box, () => {
      isShown = true;
    });
    return isShown ? [box] : [];
  });
}

function movedRegions({ moved }: Matching, a: Pixels, b: Pixels, ignored: ReadonlySet<PageElement>): readonly Region[] {
  const before = new Map(moved.map(([one, other]) => [other, one] as const));
  const groups: PageElement[][] = [];
  for (const group of inGroups(moved.map(([, other]) => other).filter((each) => !ignored.has(each)))) {
    for (const [at, element] of group.entries()) {
      const last = group[at - 1];
      const [one, other] = [before.get(element), last === undefined ? undefined : before.get(last)];
      if (one !== undefined && other !== undefined && follows(other, one)) groups.at(-1)?.push(element);
      else groups.push([element]);
    }
  }
  return groups.flatMap((group): readonly Region[] => {
    const [from, to] = [union(group.map((each) => boxAround(before.get(each) ?? each))), union(group.map(boxAround))];
    if (from === null || to === null || (from.x === to.x && from.y === to.y)) return [];
    return [{ kind: 'moved', from: within(from, a), to: within(to, b), pixels: 0 }];
  });
}

/** Whether any pixel of a box differs between the images. */
function differ(a: Pixels, b: Pixels, box: Box | null): boolean {
  const shared = box === null ? null : within(box, { width: a.width, height: Math.min(a.height, b.height) });
  if (shared === null) return false;
  for (let y = shared.y; y < shared.y + shared.height; y += 1) {
    const [one, other] = [a.rows.row(y, shared.x, shared.width), b.rows.row(y, shared.x, shared.width)];
    for (let at = 0; at < shared.width; at += 1) if (one[at] !== other[at]) return true;
  }
  return false;
}

function isBeside(box: Box, change: Box | null): boolean {
  if (change === null) return false;
  const isLevel = box.y >= change.y - OVERHANG && box.y + box.height <= change.y + change.height + OVERHANG;
  return isLevel && box.x >= change.x - BESIDE && box.x + box.width <= change.x + change.width + BESIDE;
}

/** Finds the edited element that a changed pixel of an element belongs to. */
function editFinder(edits: readonly Edit[]) {
  const byElement = new Map(edits.map((edit) => [edit.b, edit] as const));
  const known = new Map<PageElement, Edit | undefined>();
  const find = (element: PageElement): Edit | undefined => {
    let [each, level]: [PageElement | null, number] = [element, 0];
    for (; each !== null; each = each.parent, level += 1) {
      const edit = byElement.get(each);
      if (edit === undefined) continue;
      const isShown = level === 0 || (edit.text && level <= MAX_INLINE_LEVELS) || (edit.style && showsThrough(edit));
      if (isShown) return outermost(edit);
    }
    return undefined;
  };
  /** Many elements can inherit a changed colour. Only the outermost one is named. */
  const outermost = (edit: Edit): Edit => {
    let found = edit;
    while (found.style && !found.text && found.b.parent !== null) {
      const around = byElement.get(found.b.parent);
      if (around === undefined || !around.style) break;
      found = around;
    }
    return found;
  };
  return {
    of: (element: PageElement): Edit | undefined => {
      if (!known.has(element)) known.set(element, find(element));
      return known.get(element);
    },
  };
}

function showsThrough({ a, b }: Edit): boolean {
  const names = new Set([...Object.keys(a.style), ...Object.keys(b.style)]);
  return [...names].some((name) => SHOWS_THROUGH.test(name) && a.style[name] !== b.style[name]);
}

interface EditedPart {
  readonly edit: Edit;
  left: number;
  top: number;
  right: number;
  bottom: number;
  pixels: number;
  dx: number;
  dy: number;
}

function noteEdit(parts: Map<PageElement, EditedPart>, edit: Edit, { dx, dy }: Placed, x: number, y: number): void {
  const part = parts.get(edit.b);
  if (part === undefined) {
    parts.set(edit.b, { edit, left: x, top: y, right: x + 1, bottom: y + 1, pixels: 1, dx, dy });
    return;
  }
  part.left = Math.min(part.left, x);
  part.top = Math.min(part.top, y);
  part.right = Math.max(part.right, x + 1);
  part.bottom = Math.max(part.bottom, y + 1);
  part.pixels += 1;
}

/** Adds changed pixels near an edited part to it; false when they are elsewhere. */
function takesIn(part: EditedPart, { x, y, width, height }: Box, pixels: number): boolean {
  const isNear =
    x >= part.left - OVERHANG &&
    y >= part.top - OVERHANG &&
    x + width <= part.right + OVERHANG &&
    y + height <= part.bottom + OVERHANG;
  // The marker of a list item has the colour of the item.
  const isMarker = part.edit.style && isBeside({ x, y, width, height }, boxAround(part.edit.b));
  if (!isNear) return isMarker;
  part.left = Math.min(part.left, x);
  part.top = Math.min(part.top, y);
  part.right = Math.max(part.right, x + width);
  part.bottom = Math.max(part.bottom, y + height);
  part.pixels += pixels;
  return true;
}

function editedRegion({ edit, left, top, right, bottom, pixels, dx, dy }: EditedPart, a: Pixels, b: Pixels): Region[] {
  const to = { x: left, y: top, width: right - left, height: bottom - top };
  const [before, after] = [boxAround(edit.a), boxAround(edit.b)];
  const own = after === null ? null : within(after, b);
  const isWhole = own !== null && to.width >= own.width * WHOLE && to.height >= own.height * WHOLE;
  if (isWhole && before !== null) return [{ kind: 'edited', from: within(before, a), to: own, pixels }];
  return [{ kind: 'edited', from: within({ ...to, x: to.x - dx, y: to.y - dy }, a) ?? to, to, pixels }];
}

/** Returns where a part of a region was before. */
function shifted(box: Box, { from, to }: Region, a: Pixels): Box {
  if (from === null || to === null) return box;
  return within({ ...box, x: box.x - to.x + from.x, y: box.y - to.y + from.y }, a) ?? from;
}
