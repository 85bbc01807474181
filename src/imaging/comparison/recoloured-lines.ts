import { isMoved } from './moved-lines.ts';
import { isNear, MAX_STEP, MIN_LEVELS, noticeableChanges } from './recoloured-areas.ts';

/** Minimum length of a line, in pixels: strokes of letters of usual sizes are shorter. */
const MIN_LENGTH = 24;
/** Maximum thickness of what counts as a line, in pixels: of the blurred edge of a shadow, for example. */
const MAX_THICKNESS = 16;

/**
 * Returns 1 for each pixel in a straight line, horizontal or vertical, whose colour changed noticeably: borders, stripes
 * and shadows that appear. Not where an edge or a line only lies at another fraction of a pixel. JPEG makes such lines
 * beside edges: do not use it for images that were compressed with losses.
 */
export function recolouredLines(a: Uint32Array, b: Uint32Array, width: number): Uint8Array {
  const height = a.length / width;
  const images = { a, b, found: new Uint8Array(a.length), isNoticeable: noticeableChanges() };
  const horizontal = linesAlong(images, { along: 1, across: width }, 1);
  const vertical = linesAlong(images, { along: width, across: 1 }, width);
  /** Numbers of different pixels directly above the current row, and the columns between which it has some. */
  const inColumns = new Uint8Array(width);
  let above = { from: width, to: 0 };
  // Pixels across a line are a run of different ones. It ends at an equal one, or after the last row or column.
  for (let y = 0, rows = 1; y <= height; y += rows) {
    const row = y * width;
    // Horizontal lines share one place: one that ends in an earlier row does not go on here.
    horizontal.ends[0] = -1;
    const own = differencesIn(a, b, row, y < height ? row + width : row);
    rows = own.from < own.to ? equalRows(a, b, y, width) : 1;
    const [from, to] = [Math.min(own.from, above.from), Math.max(own.to, above.to)];
    /** Number of different pixels directly to the left. */
    let inRow = 0;
    for (let x = from; x < to; x += 1) {
      const at = row + x;
      const inColumn = inColumns[x] ?? 0;
      if (x >= own.from && x < own.to && !isNear(a, at, b, at, MIN_LEVELS - 1)) {
        inRow += 1;
        if (inColumn <= MAX_THICKNESS) inColumns[x] = Math.min(inColumn + rows, MAX_THICKNESS + 1);
        continue;
      }
      if (inColumn > 0) {
        inColumns[x] = 0;
        if (inColumn <= MAX_THICKNESS) follow(horizontal, 0, x, 1, at, inColumn, inColumn < y && y < height);
      }
      if (inRow > 0) {
        if (inRow <= MAX_THICKNESS) follow(vertical, x - inRow, y, rows, at, inRow, inRow < x);
        inRow = 0;
      }
    }
    if (inRow > 0 && inRow <= MAX_THICKNESS) {
      follow(vertical, to - inRow, y, rows, row + to, inRow, inRow < to && to < width);
    }
    above = own;
  }
  return images.found;
}

/** Returns between which columns a row has pixels that are not the same. */
function differencesIn(a: Uint32Array, b: Uint32Array, start: number, end: number) {
  let [first, last] = [start, end];
  while (first < last && a[first] === b[first]) first += 1;
  while (last > first && a[last - 1] === b[last - 1]) last -= 1;
  return { from: first - start, to: last - start };
}

/** Returns how many rows, from `y` on, are equal within both images. They are judged at once. */
function equalRows(a: Uint32Array, b: Uint32Array, y: number, width: number): number {
  const start = (y + 1) * width;
  let at = start;
  while (at < a.length && a[at] === a[at - width] && b[at] === b[at - width]) at += 1;
  return 1 + Math.floor((at - start) / width);
}

interface Images {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  /** 1 for each pixel in a line. */
  readonly found: Uint8Array;
  isNoticeable(one: number, other: number): boolean;
}

/** Distances of pixels along and across lines. */
interface Steps {
  readonly along: number;
  readonly across: number;
}

/** The last line in each place: for vertical lines, the column of the first pixel across. */
interface Lines extends Images, Steps {
  /** Position after the last pixels of each. */
  readonly ends: Int32Array;
  readonly thicknesses: Uint8Array;
  readonly lengths: Uint32Array;
  readonly verdicts: Uint8Array;
}

const [UNJUDGED, UNCHANGED, RECOLOURED] = [0, 1, 2];

function linesAlong(images: Images, steps: Steps, places: number): Lines {
  return {
    ...images,
    ...steps,
    ends: new Int32Array(places),
    thicknesses: new Uint8Array(places),
    lengths: new Uint32Array(places),
    verdicts: new Uint8Array(places),
  };
}

/**
 * Begins a line or goes on with the one before, for `count` positions that have the same pixels. `end`: the index of the
 * pixel after those across it, at the first of them. `hasSides`: whether the pixels beside it are in the images.
 */
function follow(
  lines: Lines,
  place: number,
  position: number,
  count: number,
  end: number,
  thickness: number,
  hasSides: boolean,
): void {
  const { ends, thicknesses, lengths, verdicts } = lines;
  const isNext = ends[place] === position && thicknesses[place] === thickness;
  const isSame = isNext && repeats(lines, end, thickness, hasSides);
  const before = isSame || (isNext && isAlike(lines, end, thickness)) ? (lengths[place] ?? 0) : 0;
  const length = before + count;
  let verdict = isSame ? (verdicts[place] ?? UNJUDGED) : UNJUDGED;
  if (length >= MIN_LENGTH) {
    if (verdict === UNJUDGED) verdict = isLine(lines, end, thickness, hasSides) ? RECOLOURED : UNCHANGED;
    const last = end + (count - 1) * lines.along;
    if (verdict === RECOLOURED) mark(lines, last, thickness, before < MIN_LENGTH ? length : count);
  }
  ends[place] = position + count;
  thicknesses[place] = thickness;
  lengths[place] = length;
  verdicts[place] = verdict;
}

function mark({ found, along, across }: Lines, end: number, thickness: number, count: number): void {
  for (let back = 0; back < count; back += 1) {
    for (let each = 1; each <= thickness; each += 1) found[end - each * across - back * along] = 1;
  }
}

/** Whether pixels across a line equal those of the position before, and so do those beside them, which tell what moved. */
function repeats({ a, b, along, across }: Lines, end: number, thickness: number, hasSides: boolean): boolean {
  const first = end - thickness * across;
  for (let at = first; at < end; at += across) {
    if (a[at] !== a[at - along] || b[at] !== b[at - along]) return false;
  }
  return !hasSides || (a[end] === a[end - along] && a[first - across] === a[first - across - along]);
}

/** Whether pixels across a line continue those of the position before. */
function isAlike({ a, b, along, across }: Lines, end: number, thickness: number): boolean {
  for (let at = end - thickness * across; at < end; at += across) {
    if (!isNear(a, at, a, at - along, MAX_STEP) || !isNear(b, at, b, at - along, MAX_STEP)) return false;
  }
  return true;
}

/** Whether pixels across a line changed noticeably, and not as edges and lines do at another fraction of a pixel. */
function isLine(lines: Lines, end: number, thickness: number, hasSides: boolean): boolean {
  const { a, b, across } = lines;
  const first = end - thickness * across;
  let isNoticeable = false;
  for (let at = first; at < end && !isNoticeable; at += across) {
    isNoticeable = lines.isNoticeable(a[at] ?? 0, b[at] ?? 0);
  }
  return isNoticeable && !isMoved(a, b, { first, end, step: across }, hasSides);
}
