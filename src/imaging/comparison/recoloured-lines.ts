import { isNear, MAX_STEP, MIN_LEVELS, noticeableChanges } from './recoloured-areas.ts';

/** Minimum length of a line, in pixels: strokes of letters of usual sizes are shorter. */
const MIN_LENGTH = 24;
/** Maximum width of what counts as a line, in pixels: of the blurred edge of a shadow, for example. */
const MAX_WIDTH = 16;
/** Maximum width of an edge of a box or line that is drawn at another fraction of a pixel. */
const MAX_EDGE = 2;
/** Minimum share of the strength of a line that is left of it at another fraction of a pixel. */
const MIN_SHIFTED = 0.6;

/**
 * Calls `note` with the index of each pixel in a straight line, horizontal or vertical, whose colour changed noticeably:
 * borders, stripes and shadows that appear. Not where an edge or a line only lies at another fraction of a pixel. JPEG
 * makes such lines beside edges: do not use it for images that were compressed with losses.
 */
export function recolouredLines(a: Uint32Array, b: Uint32Array, width: number, note: (at: number) => void): void {
  const different = new Uint8Array(a.length);
  let [top, bottom, left, right] = [a.length / width, 0, width, 0];
  for (let at = 0; at < a.length; at += 1) {
    if (isNear(a, at, b, at, MIN_LEVELS - 1)) continue;
    different[at] = 1;
    const [x, y] = [at % width, Math.floor(at / width)];
    [top, bottom, left, right] = [Math.min(top, y), Math.max(bottom, y + 1), Math.min(left, x), Math.max(right, x + 1)];
  }
  const images = { a, b, different, isNoticeable: noticeableChanges() };
  const [columns, rows] = [
    { from: left, to: right, end: width, step: 1 },
    { from: top, to: bottom, end: a.length / width, step: width },
  ];
  if (right - left >= MIN_LENGTH) findLines(images, columns, rows, note);
  if (bottom - top >= MIN_LENGTH) findLines(images, rows, columns, note);
}

interface Images {
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  /** Whether each pixel differs. */
  readonly different: Uint8Array;
  isNoticeable(one: number, other: number): boolean;
}

/** Rows or columns: those with differences, their number, and the distance of two of them in the image. */
interface Axis {
  readonly from: number;
  readonly to: number;
  readonly end: number;
  readonly step: number;
}

/** Looks for lines along one axis. At each position, lines are runs of different pixels across it. */
function findLines(images: Images, along: Axis, across: Axis, note: (at: number) => void): void {
  const { different } = images;
  let [lengths, before] = [new Uint32Array(across.end + 1), new Uint32Array(across.end + 1)];
  let [ends, endsBefore] = [new Uint32Array(across.end + 1), new Uint32Array(across.end + 1)];
  for (let position = along.from; position < along.to; position += 1) {
    const base = position * along.step;
    lengths.fill(0, across.from, across.to);
    for (let start = across.from; start < across.to; start += 1) {
      if (different[base + start * across.step] === 0) continue;
      let end = start + 1;
      while (end < across.to && different[base + end * across.step] === 1) end += 1;
      if (end - start <= MAX_WIDTH) {
        const goesOn = endsBefore[start] === end && isAlike(images, base, along.step, start, end, across.step);
        const length = goesOn ? (before[start] ?? 0) + 1 : 1;
        [lengths[start], ends[start]] = [length, end];
        if (length >= MIN_LENGTH && isLine(images, base, start, end, across)) {
          const count = length === MIN_LENGTH ? MIN_LENGTH : 1;
          for (let back = 0; back < count; back += 1) {
            for (let at = start; at < end; at += 1) note(base - back * along.step + at * across.step);
          }
        }
      }
      start = end;
    }
    [lengths, before] = [before, lengths];
    [ends, endsBefore] = [endsBefore, ends];
  }
}

/** Whether these pixels continue those of the position before. */
function isAlike({ a, b }: Images, base: number, back: number, start: number, end: number, step: number): boolean {
  for (let each = start; each < end; each += 1) {
    const at = base + each * step;
    if (!isNear(a, at, a, at - back, MAX_STEP) || !isNear(b, at, b, at - back, MAX_STEP)) return false;
  }
  return true;
}

/** Whether pixels across a line changed noticeably, and not as edges do at another fraction of a pixel. */
function isLine({ a, b, isNoticeable }: Images, base: number, start: number, end: number, across: Axis): boolean {
  const indexes = Array.from({ length: end - start }, (_, at) => base + (start + at) * across.step);
  if (!indexes.some((at) => isNoticeable(a[at] ?? 0, b[at] ?? 0))) return false;
  if (end - start > MAX_EDGE) return true;
  // Pixels beside it that are not known may make it an edge.
  if (start === 0 || end === across.end) return false;
  const around = [start - 1, end].map((each) => a[base + each * across.step] ?? 0);
  const isOfEdge = [0, 8, 16].every((shift) => {
    const level = (pixel: number) => (pixel >>> shift) & 0xff;
    const [low, high] = [Math.min(...around.map(level)), Math.max(...around.map(level))];
    return [a, b].every((image) =>
      indexes.every((at) => {
        const own = level(image[at] ?? 0);
        return own >= low - MAX_STEP && own <= high + MAX_STEP;
      }),
    );
  });
  return !isOfEdge && (end - start < MAX_EDGE || !isShifted(indexes, a, b, around[0] ?? 0));
}

/** Whether two pixels hold about as much of the colour of a line in both images. */
function isShifted(indexes: readonly number[], a: Uint32Array, b: Uint32Array, around: number): boolean {
  const strengthOf = (image: Uint32Array) =>
    [0, 8, 16].map((shift) => {
      const level = (pixel: number) => (pixel >>> shift) & 0xff;
      return Math.abs(indexes.reduce((sum, at) => sum + level(image[at] ?? 0) - level(around), 0));
    });
  const [one, other] = [Math.max(...strengthOf(a)), Math.max(...strengthOf(b))];
  return Math.min(one, other) >= Math.max(one, other) * MIN_SHIFTED;
}
