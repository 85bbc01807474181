import { holds } from '../../capture/comparison/boxes.ts';
import {
  type Box,
  type Ignore,
  MAX_REGIONS,
  NOTHING_IGNORED,
  type Region,
  type VisualDifference,
} from '../../capture/comparison/comparison.ts';
import { alignRows, type Gap, indexRows, type RowIndex, type Run } from './align-rows.ts';
import { cutColumns } from './cut-columns.ts';
import { editedRegions } from './edited-regions.ts';
import { type Explained, explainRegions } from './elements/explain-regions.ts';
import type { PageElement } from './elements/page-tree.ts';
import { within } from './elements/page-tree.ts';
import { IgnoredPlaces } from './ignored-places.ts';
import { boxOf, columnsOf, inMemory, type Part, type Pixels, rowOf, rowsOf, withoutMargin } from './pixels.ts';

/** Rows, columns, rows: content in columns is aligned in each of them. */
const MAX_DEPTH = 3;
/** Distances, in rows, up to which gaps are joined. They are tried one after the other. */
const DISTANCES = [32, 128, Number.POSITIVE_INFINITY] as const;
/** Changed pixels that one more region may save: few large regions say more than many small ones. */
const COST_OF_REGION = 3000;
/** A lower run that is found elsewhere may be there by chance. */
const MIN_MOVED_ROWS = 12;
/** Different rows of a run that is found elsewhere: lines and blank areas look the same everywhere. */
const MIN_MOVED_DISTINCT = 4;

/** Fills ignored elements with one colour, so that rows that differ only in them are equal. */
const IGNORED_COLOUR = 0xff808080;

/**
 * Compares two images as a text diff compares texts: rows that both have are aligned first, then those of columns, and
 * what remains is compared pixel by pixel. Elements, when known, explain the regions that differ.
 * Ignored elements are painted over.
 */
export function comparePixels(
  a: Pixels,
  b: Pixels,
  ignore: Ignore = NOTHING_IGNORED,
  elements: Explained | null = null,
): VisualDifference {
  const ignored = {
    a: new IgnoredPlaces([...ignore.rectangles, ...paintOver(a, elements?.ignored.a)], a.height),
    b: new IgnoredPlaces([...ignore.rectangles, ...paintOver(b, elements?.ignored.b)], b.height),
  };
  const width = Math.min(a.width, b.width);
  const [partA, partB] = [whole(a, ignored.a), whole(b, ignored.b)];
  const byPixels = [
    ...differences(columnsOf(partA, 0, width), columnsOf(partB, 0, width), 0),
    ...(a.width > width ? [only('removed', columnsOf(partA, width, a.width))] : []),
    ...(b.width > width ? [only('inserted', columnsOf(partB, width, b.width))] : []),
  ];
  const isKnown = elements !== null && a.width === b.width;
  const regions = (isKnown ? explainRegions(partA.image, partB.image, byPixels, elements) : byPixels)
    .flatMap((region) => counted(region, ignore, ignored))
    .toSorted((one, other) => topOf(one) - topOf(other) || leftOf(one) - leftOf(other));
  const sum = (some: readonly Region[]) => some.reduce((total, { pixels }) => total + pixels, 0);
  const changed = sum(regions);
  const all = b.width * b.height + sum(regions.filter(({ kind }) => kind === 'removed'));
  return {
    regions: regions.slice(0, MAX_REGIONS),
    truncated: regions.length > MAX_REGIONS,
    changed_pixels: changed,
    share: Math.min(1, changed / all),
  };
}

/** Returns the places of elements, which are filled with one colour. Most elements are in others of them. */
function paintOver(image: Pixels, elements: ReadonlySet<PageElement> = new Set()): readonly Box[] {
  const boxes: Box[] = [];
  for (const { box } of elements) {
    const shown = box === null ? null : within(box, image);
    if (shown !== null && !boxes.some((other) => holds(other, shown))) boxes.push(shown);
  }
  image.rows.fill(boxes, IGNORED_COLOUR);
  return boxes;
}

/** Returns what of a region counts; edited ones hold no ignored pixels. */
function counted(
  region: Region,
  { kinds }: Ignore,
  ignored: Readonly<Record<'a' | 'b', IgnoredPlaces>>,
): readonly Region[] {
  if (kinds.includes(region.kind)) return [];
  if (region.kind === 'edited' || (ignored.a.isEmpty && ignored.b.isEmpty)) return [region];
  const { from, to } = region;
  const areas = [
    ...(from === null ? [] : [ignored.a.areaOutside(from)]),
    ...(to === null ? [] : [ignored.b.areaOutside(to)]),
  ];
  const pixels = Math.min(...areas);
  return pixels === 0 ? [] : [{ ...region, pixels: region.kind === 'moved' ? 0 : pixels }];
}

function whole(image: Pixels, ignored: IgnoredPlaces): Part {
  return { image: { ...image, ignored }, x: 0, y: 0, width: image.width, height: image.height };
}

function topOf({ from, to }: Region): number {
  return (to ?? from)?.y ?? 0;
}

function leftOf({ from, to }: Region): number {
  return (to ?? from)?.x ?? 0;
}

/** Returns the regions of a gap, column by column; undefined when it is a single column. */
type ByColumns = (gap: Gap) => readonly Region[] | undefined;

/** Returns the regions in which two parts of the same width differ: the explanation of lowest cost. */
function differences(a: Part, b: Part, depth: number): readonly Region[] {
  const index = indexRows(a, b);
  const { gaps } = alignRows(index, { a: 0, aEnd: a.height, b: 0, bEnd: b.height });
  const moved = movedRuns(index, gaps);
  const known = new Map<Gap, readonly Region[] | undefined>();
  /**
   * Compares the columns of a gap. The result is kept, because most gaps are not joined with others and are asked for
   * again.
   */
  const byColumns: ByColumns = (gap) => {
    if (!known.has(gap)) known.set(gap, inColumns(...sidesOf(a, b, gap), depth));
    return known.get(gap);
  };
  let best: readonly Region[] = [
    ...moved.map((run) => movedRegion(a, b, run)),
    ...gaps.flatMap((gap) => withoutMoved(gap, moved)).flatMap((gap) => inGap(a, b, gap, depth, byColumns)),
  ];
  if (depth === MAX_DEPTH) return best;
  let groups = gaps;
  for (const distance of depth === 0 ? DISTANCES : DISTANCES.slice(-1)) {
    const before = groups.length;
    groups = joinedGaps(groups, distance);
    if (groups.length === before) continue;
    const other = inGroups(a, b, groups, depth, byColumns);
    if (other !== undefined && costOf(other) < costOf(best)) best = other;
  }
  return best;
}

/**
 * Joins gaps with few rows between them. Where columns changed by different heights, rows of a whole page are equal by
 * chance only, and cut each change into pieces.
 */
function joinedGaps(gaps: readonly Gap[], distance: number): readonly Gap[] {
  const found: Gap[] = [];
  for (const gap of gaps) {
    const last = found.at(-1);
    if (last !== undefined && gap.a - last.aEnd <= distance) {
      found[found.length - 1] = { ...last, aEnd: gap.aEnd, bEnd: gap.bEnd };
    } else found.push(gap);
  }
  return found;
}

/** Compares joined gaps column by column; undefined when one of them is a single column. */
function inGroups(
  a: Part,
  b: Part,
  groups: readonly Gap[],
  depth: number,
  byColumns: ByColumns,
): readonly Region[] | undefined {
  const found: Region[] = [];
  for (const group of groups) {
    const isOneSided = group.a === group.aEnd || group.b === group.bEnd;
    const regions = isOneSided ? inGap(a, b, group, depth, byColumns) : byColumns(group);
    if (regions === undefined) return undefined;
    found.push(...regions);
  }
  return found;
}

function costOf(regions: readonly Region[]): number {
  return regions.reduce((sum, { pixels }) => sum + pixels, regions.length * COST_OF_REGION);
}

function sidesOf(a: Part, b: Part, gap: Gap): readonly [Part, Part] {
  return [rowsOf(a, gap.a, gap.aEnd), rowsOf(b, gap.b, gap.bEnd)];
}

function inGap(a: Part, b: Part, gap: Gap, depth: number, byColumns: ByColumns): readonly Region[] {
  const [inA, inB] = sidesOf(a, b, gap);
  if (inA.height === 0) return oneSided('inserted', inB, b, depth);
  if (inB.height === 0) return oneSided('removed', inA, a, depth);
  return byColumns(gap) ?? (inA.height === inB.height ? editedRegions(inA, inB) : ofOtherHeight(inA, inB, depth));
}

/** Compares the columns of two parts; undefined when they are a single one that has the whole width. */
function inColumns(a: Part, b: Part, depth: number): readonly Region[] | undefined {
  const columns = depth < MAX_DEPTH ? cutColumns(a, b) : [];
  const [first] = columns;
  if (first === undefined || first.to - first.from === a.width) return undefined;
  return columns.flatMap(({ from, to }) =>
    differences(inMemory(columnsOf(a, from, to)), inMemory(columnsOf(b, from, to)), depth + 1),
  );
}

/** Rows that only one image has. `around`: the part that they belong to, whose nearest row has the background. */
function oneSided(kind: 'inserted' | 'removed', rows: Part, around: Part, depth: number): readonly Region[] {
  if (rows.height === 1 && isLikeNeighbour(rows, around)) return [];
  const after = rows.y + rows.height - around.y;
  const neighbour = after < around.height ? after : Math.max(0, rows.y - around.y - 1);
  const tight = withoutMargin(rows, rowOf(around, neighbour)[0] ?? 0);
  // In a column that is shorter than the one beside it, the rest is blank. On a whole page, blank rows were inserted.
  if (tight === undefined) return depth === 0 ? [only(kind, rows)] : [];
  return [only(kind, tight)];
}

/**
 * Whether a single row repeats the one above or below it: a box at a fractional position is one row taller or lower
 * than elsewhere.
 */
function isLikeNeighbour(row: Part, around: Part): boolean {
  const at = row.y - around.y;
  return [at - 1, at + 1].some(
    (other) => other >= 0 && other < around.height && unequal(rowOf(row, 0), rowOf(around, other)) === 0,
  );
}

function only(kind: 'inserted' | 'removed', part: Part): Region {
  const box = boxOf(part);
  const pixels = box.width * box.height;
  return kind === 'inserted' ? { kind, from: null, to: box, pixels } : { kind, from: box, to: null, pixels };
}

/**
 * Compares parts of different heights: rows above a split are aligned at the top, those below at the bottom, and the
 * taller part has rows between them. The split is where fewest pixels differ.
 */
function ofOtherHeight(a: Part, b: Part, depth: number): readonly Region[] {
  const common = Math.min(a.height, b.height);
  const [more, fewer] = a.height > b.height ? [a, b] : [b, a];
  const extra = more.height - common;
  let cost = 0;
  for (let row = 0; row < common; row += 1) cost += unequal(rowOf(more, row + extra), rowOf(fewer, row));
  let [best, split] = [cost, 0];
  for (let row = 0; row < common; row += 1) {
    cost += unequal(rowOf(more, row), rowOf(fewer, row)) - unequal(rowOf(more, row + extra), rowOf(fewer, row));
    if (cost < best) [best, split] = [cost, row + 1];
  }
  const kind = a.height > b.height ? 'removed' : 'inserted';
  return [
    ...editedRegions(rowsOf(a, 0, split), rowsOf(b, 0, split)),
    ...oneSided(kind, rowsOf(more, split, split + extra), more, depth),
    ...editedRegions(rowsOf(a, a.height - common + split, a.height), rowsOf(b, b.height - common + split, b.height)),
  ];
}

function unequal(a: Uint32Array, b: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) count += 1;
  return count;
}

/** Returns runs of rows that are in another order in the other image. */
function movedRuns(index: RowIndex, gaps: readonly Gap[]): readonly Run[] {
  const [inA, inB] = [gaps.filter(({ a, aEnd }) => aEnd > a), gaps.filter(({ b, bEnd }) => bEnd > b)];
  if (inA.length === 0 || inB.length === 0) return [];
  const span = {
    a: Math.min(...inA.map(({ a }) => a)),
    aEnd: Math.max(...inA.map(({ aEnd }) => aEnd)),
    b: Math.min(...inB.map(({ b }) => b)),
    bEnd: Math.max(...inB.map(({ bEnd }) => bEnd)),
  };
  const found: Run[] = [];
  for (const [a, b] of index.uniqueBands(span, MIN_MOVED_ROWS)) {
    const last = found.at(-1);
    if (last !== undefined && a < last.a + last.rows && a - last.a === b - last.b) continue;
    const from = inA.find((gap) => gap.a <= a && a < gap.aEnd);
    const to = inB.find((gap) => gap.b <= b && b < gap.bEnd);
    if (from === undefined || to === undefined) continue;
    const run = extended(index, { a, b }, from, to);
    const isFree = found.every((other) => run.b >= other.b + other.rows || other.b >= run.b + run.rows);
    if (isFree && run.rows >= MIN_MOVED_ROWS && index.distinct(run.a, run.a + run.rows) >= MIN_MOVED_DISTINCT) {
      found.push(run);
    }
  }
  return found;
}

/** Extends a pair of equal rows within the gaps that they are in. */
function extended({ isSame }: RowIndex, { a, b }: { a: number; b: number }, from: Gap, to: Gap): Run {
  let up = 0;
  while (a - up > from.a && b - up > to.b && isSame(a - up - 1, b - up - 1)) up += 1;
  let down = 0;
  while (a + down < from.aEnd && b + down < to.bEnd && isSame(a + down, b + down)) down += 1;
  return withSpacing({ isSame }, { a: a - up, b: b - up, rows: up + down }, from, to);
}

/**
 * Adds the rest of both gaps when it is equal: the spacing of a block that moved is after it in one, before it in the
 * other.
 */
function withSpacing({ isSame }: Pick<RowIndex, 'isSame'>, run: Run, from: Gap, to: Gap): Run {
  const [endA, endB] = [run.a + run.rows, run.b + run.rows];
  const areSame = (a: number, b: number, rows: number) =>
    rows > 0 && Array.from({ length: rows }).every((_, row) => isSame(a + row, b + row));
  if (from.aEnd - endA === run.b - to.b && areSame(endA, to.b, from.aEnd - endA)) {
    return { a: run.a, b: to.b, rows: from.aEnd - run.a };
  }
  if (run.a - from.a === to.bEnd - endB && areSame(from.a, endB, run.a - from.a)) {
    return { a: from.a, b: run.b, rows: endA - from.a };
  }
  return run;
}

function movedRegion(a: Part, b: Part, run: Run): Region {
  const [from, to] = [rowsOf(a, run.a, run.a + run.rows), rowsOf(b, run.b, run.b + run.rows)];
  const tight = withoutMargin(from, rowOf(from, 0)[0] ?? 0) ?? from;
  const at = { ...to, x: to.x + tight.x - from.x, y: to.y + tight.y - from.y };
  return {
    kind: 'moved',
    from: boxOf(tight),
    to: boxOf({ ...at, width: tight.width, height: tight.height }),
    pixels: 0,
  };
}

/** Returns what remains of a gap without the rows that were moved from it or to it. */
function withoutMoved(gap: Gap, moved: readonly Run[]): readonly Gap[] {
  const left = moved.filter(({ a }) => a >= gap.a && a < gap.aEnd);
  const came = moved.filter(({ b }) => b >= gap.b && b < gap.bEnd);
  if (left.length === 0 && came.length === 0) return [gap];
  const ofA = rest(
    gap.a,
    gap.aEnd,
    left.map(({ a, rows }) => [a, a + rows] as const),
  );
  const ofB = rest(
    gap.b,
    gap.bEnd,
    came.map(({ b, rows }) => [b, b + rows] as const),
  );
  const [a, b] = [ofA[0], ofB[0]];
  if (ofA.length === 1 && ofB.length === 1 && a !== undefined && b !== undefined) {
    return [{ a: a[0], aEnd: a[1], b: b[0], bEnd: b[1] }];
  }
  return [
    ...ofA.map(([from, to]) => ({ a: from, aEnd: to, b: gap.b, bEnd: gap.b })),
    ...ofB.map(([from, to]) => ({ a: gap.a, aEnd: gap.a, b: from, bEnd: to })),
  ];
}

function rest(
  from: number,
  to: number,
  taken: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  let at = from;
  for (const [start, end] of taken.toSorted(([one], [other]) => one - other)) {
    if (start > at) found.push([at, start]);
    at = Math.max(at, end);
  }
  if (at < to) found.push([at, to]);
  return found;
}
