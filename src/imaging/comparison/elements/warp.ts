import { areaOf } from '../../../capture/comparison/boxes.ts';
import type { Box } from '../../../capture/comparison/comparison.ts';
import type { Pixels } from '../pixels.ts';
import { CONTEXT, lookAlike, visibleDifferences } from '../visible-differences.ts';
import { type PageElement, within } from './page-tree.ts';

/** Rows compared at once, which bounds memory. */
const STRIP = 256;
/** Maximum number of pixels of content that is also searched one pixel off, and the share of them that may differ. */
const MAX_REDRAWN = 200_000;
const MAX_CHANGE_OF_REDRAWN = 0.01;
/** Maximum number of offsets of moved content that are tried for pixels of a container. */
const MAX_OFFSETS = 12;

/** One of two captures, and where its content is in the other one. */
export interface Side {
  readonly image: Pixels;
  readonly other: Pixels;
  /** Elements in both captures, in document order. `dx` and `dy`: distance from their place in the other image. */
  readonly placed: readonly Placed[];
  /** The most common offsets by which content moved. */
  readonly offsets: readonly Offset[];
  /** The places of elements that the other one lacks. */
  readonly alone: readonly { readonly box: Box }[];
}

interface Offset {
  readonly dx: number;
  readonly dy: number;
}

export interface Placed extends Offset {
  readonly element: PageElement;
  readonly box: Box;
  /** Whether its content moved by other offsets than the element itself. */
  readonly isFluid: boolean;
}

/** `counterpart`: the same element in the other capture. */
export function placedElements(
  elements: readonly PageElement[],
  counterpart: (element: PageElement) => PageElement | undefined,
): readonly Placed[] {
  const offsetOf = (element: PageElement): Offset | undefined => {
    const [box, other] = [element.box, counterpart(element)?.box];
    return box && other ? { dx: box.x - other.x, dy: box.y - other.y } : undefined;
  };
  return elements.flatMap((element) => {
    const { box } = element;
    const offset = offsetOf(element);
    const other = counterpart(element);
    if (box === null || offset === undefined || other?.box == null) return [];
    const goesAlong = (child: PageElement) => {
      if (child.box === null) return true;
      const its = offsetOf(child);
      return its !== undefined && its.dx === offset.dx && its.dy === offset.dy;
    };
    const isResized = other.box.width !== box.width || other.box.height !== box.height;
    const isFluid =
      isResized || other.children.length !== element.children.length || !element.children.every(goesAlong);
    return [{ element, box, ...offset, isFluid }];
  });
}

export function commonOffsets(placed: readonly Placed[]): readonly Offset[] {
  const counts = new Map<string, Offset & { count: number }>();
  for (const { dx, dy } of placed) {
    const key = `${dx} ${dy}`;
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { dx, dy, count: 1 });
    else known.count += 1;
  }
  return [...counts.values()].toSorted((one, other) => other.count - one.count).slice(0, MAX_OFFSETS);
}

/**
 * `placed`: the innermost element around the pixel that both captures have. `isAlone`: whether the pixel is in an
 * element that the other one lacks.
 */
type NoteChange = (x: number, y: number, placed: Placed | undefined, isAlone: boolean) => void;

/**
 * Calls `note` for each pixel of a box that differs from its counterpart in the other image, at the offset of its
 * element. Pixels of a container are also searched at the offsets of other content. Differences by anti-aliasing are
 * left out.
 */
export function changedPixels(side: Side, box: Box, note: NoteChange): void {
  const { image, other } = side;
  for (let from = box.y; from < box.y + box.height; from += STRIP) {
    const to = Math.min(from + STRIP, box.y + box.height);
    const top = Math.max(0, from - CONTEXT);
    const left = Math.max(0, box.x - 1);
    const right = Math.min(image.width, box.x + box.width + 1);
    const strip = { x: left, y: top, width: right - left, height: Math.min(image.height, to + CONTEXT) - top };
    const owners = rasterOf(strip, side.placed);
    const expected = new Int32Array(strip.width * strip.height);
    const actual = new Int32Array(strip.width * strip.height);
    for (let row = 0; row < strip.height; row += 1) {
      const y = top + row;
      for (let column = 0; column < strip.width; column += 1) {
        const [x, at] = [left + column, row * strip.width + column];
        const pixel = image.rows.at(x, y);
        actual[at] = pixel;
        const placed = side.placed[owners[at] ?? -1];
        const isInOther = placed !== undefined && isInside(other, x - placed.dx, y - placed.dy);
        let found = isInOther ? other.rows.at(x - placed.dx, y - placed.dy) : ~pixel;
        if (found !== pixel && placed?.isFluid !== false && isAtOffset(side, x, y, pixel)) found = pixel;
        expected[at] = found;
      }
    }
    const images = {
      a: new Uint32Array(expected.buffer),
      b: new Uint32Array(actual.buffer),
      width: strip.width,
      isExact: image.isExact && other.isExact,
    };
    const part = { x: box.x - left, y: 0, width: box.width, height: strip.height };
    const { mask, count } = visibleDifferences(images, part);
    if (count === 0) continue;
    const alone = rasterOf(strip, side.alone);
    for (let y = from; y < to; y += 1) {
      for (let x = box.x; x < box.x + box.width; x += 1) {
        const at = (y - top) * strip.width + x - left;
        if (((mask[(y - top) * box.width + x - box.x] ?? 0) & 0xff) === 0) continue;
        const placed = side.placed[owners[at] ?? -1];
        if (image.ignored?.has(x, y)) continue;
        if (placed !== undefined && other.ignored?.has(x - placed.dx, y - placed.dy)) continue;
        note(x, y, placed, (alone[at] ?? -1) >= 0);
      }
    }
  }
}

/**
 * Whether the content of a box is in the other image at one of the offsets of moved content, give or take one pixel:
 * content that moves by a fraction of a pixel is rasterized differently.
 */
export function isElsewhere({ image, other, offsets }: Side, box: Box): boolean {
  if (areaOf(box) > MAX_REDRAWN) return false;
  const around = { x: box.x - 1, y: box.y - 1, width: box.width + 2, height: box.height + 2 };
  const place = within(around, image) ?? box;
  const actual = cut(image, place);
  if (actual === null) return false;
  const max = areaOf(box) * MAX_CHANGE_OF_REDRAWN;
  const isExact = image.isExact && other.isExact;
  const isAlike = (found: Uint32Array, rows: number) => {
    const upper = (pixels: Uint32Array) => pixels.subarray(0, place.width * rows);
    return lookAlike({ a: upper(found), b: upper(actual), width: place.width, isExact }, max);
  };
  const near = [0, -1, 1];
  return offsets.some(({ dx, dy }) =>
    near.some((x) =>
      near.some((y) => {
        const found = cut(other, { ...place, x: place.x - dx + x, y: place.y - dy + y });
        // Most offsets are wrong, which the upper rows show.
        return found !== null && isAlike(found, Math.ceil(place.height / 4)) && isAlike(found, place.height);
      }),
    ),
  );
}

function cut(image: Pixels, box: Box): Uint32Array | null {
  const whole = within(box, image);
  if (whole === null || whole.width !== box.width || whole.height !== box.height) return null;
  const copy = new Uint32Array(box.width * box.height);
  for (let row = 0; row < box.height; row += 1) {
    copy.set(image.rows.row(box.y + row, box.x, box.width), row * box.width);
  }
  return copy;
}

/** Not by a closure, for which each pixel would allocate. */
function isAtOffset({ other, offsets }: Side, x: number, y: number, pixel: number): boolean {
  for (const { dx, dy } of offsets) {
    if (isInside(other, x - dx, y - dy) && other.rows.at(x - dx, y - dy) === pixel) return true;
  }
  return false;
}

function isInside({ width, height }: Pixels, x: number, y: number): boolean {
  return x >= 0 && y >= 0 && x < width && y < height;
}

/**
 * Returns, for each pixel of a strip, the index of the last box that contains it; -1 for none. Begins with the last box
 * and fills each pixel once: a page can put thousands of elements over each other.
 */
function rasterOf(strip: Box, boxes: readonly { readonly box: Box }[]): Int32Array {
  const found = new Int32Array(strip.width * strip.height).fill(-1);
  /** Number of pixels, from each one on, that are known to be filled. */
  const filled = new Int32Array(found.length);
  let left = found.length;
  const fill = (index: number, start: number, end: number) => {
    for (let at = start; at < end; ) {
      if (found[at] === -1) {
        found[at] = index;
        left -= 1;
        at += 1;
      } else at += Math.max(1, filled[at] ?? 0);
    }
    filled[start] = Math.max(filled[start] ?? 0, end - start);
  };
  for (let index = boxes.length - 1; index >= 0 && left > 0; index -= 1) {
    const box = boxes[index]?.box;
    if (box === undefined) continue;
    const [from, to] = [Math.max(0, box.x - strip.x), Math.min(strip.width, box.x + box.width - strip.x)];
    const [top, bottom] = [Math.max(0, box.y - strip.y), Math.min(strip.height, box.y + box.height - strip.y)];
    if (from >= to) continue;
    for (let row = top; row < bottom; row += 1) fill(index, row * strip.width + from, row * strip.width + to);
  }
  return found;
}
