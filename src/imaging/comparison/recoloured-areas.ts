import { differenceCiede2000, modeLab65, modeLrgb, modeRgb, modeXyz65, useMode } from 'culori/fn';

/** Side of the smallest area that counts, in pixels: greater than that of a block of JPEG. */
export const MIN_SIDE = 9;
/**
 * Maximum step from pixel to pixel within an area, in levels of a channel: gradients have such steps, letters greater
 * ones.
 */
export const MAX_STEP = 2;
/** Minimum difference, in levels of one channel. Measured: JPEG changes plain areas by at most 2. */
export const MIN_LEVELS = 3;
/**
 * Minimum distance of colours, by CIEDE2000, where 1 is just noticeable. Chosen by the table in
 * docs/comparison-colours.md.
 */
const MIN_DISTANCE = 1;

for (const mode of [modeRgb, modeLrgb, modeXyz65, modeLab65]) useMode(mode);
const distance = differenceCiede2000();

/**
 * Calls `note` with the index of each pixel in an area of one colour, or of a gradient, whose colour changed
 * noticeably.
 */
export function recolouredAreas(a: Uint32Array, b: Uint32Array, width: number, note: (at: number) => void): void {
  const isNoticeable = noticeableChanges();
  /** Side of the largest square that ends at a pixel, at most MIN_SIDE, which only squares that count have. */
  let [sides, above] = [new Uint8Array(width), new Uint8Array(width)];
  for (let start = 0; start < a.length; start += width) {
    for (let x = 0; x < width; x += 1) {
      const at = start + x;
      sides[x] = 0;
      if (isNear(a, at, b, at, MIN_LEVELS - 1)) continue;
      sides[x] = 1;
      if (x === 0) continue;
      const side = 1 + Math.min(sides[x - 1] ?? 0, above[x] ?? 0, above[x - 1] ?? 0, MIN_SIDE - 1);
      if (side === 1 || !isSmooth(a, at, width) || !isSmooth(b, at, width)) continue;
      if (side < MIN_SIDE || !isNoticeable(a[at] ?? 0, b[at] ?? 0)) {
        sides[x] = Math.min(side, MIN_SIDE - 1);
        continue;
      }
      sides[x] = MIN_SIDE;
      // The squares to the left and above have noted the rest of this one.
      const columns = sides[x - 1] === MIN_SIDE ? 1 : MIN_SIDE;
      const rows = above[x] === MIN_SIDE ? 1 : MIN_SIDE;
      for (let row = 0; row < rows; row += 1) {
        for (let column = 0; column < columns; column += 1) note(at - row * width - column);
      }
    }
    [sides, above] = [above, sides];
  }
}

/** Remembers pairs of colours, of which plain areas have few. */
export function noticeableChanges(): (one: number, other: number) => boolean {
  const known = new Map<number, boolean>();
  let [last, answer] = [-1, false];
  return (one, other) => {
    const pair = (one & 0xffffff) * 2 ** 24 + (other & 0xffffff);
    if (pair === last) return answer;
    answer = known.get(pair) ?? distance(colourOf(one), colourOf(other)) >= MIN_DISTANCE;
    known.set(pair, answer);
    last = pair;
    return answer;
  };
}

function colourOf(pixel: number) {
  return {
    mode: 'rgb' as const,
    r: (pixel & 0xff) / 255,
    g: ((pixel >>> 8) & 0xff) / 255,
    b: ((pixel >>> 16) & 0xff) / 255,
  };
}

/** Whether a pixel continues those to the left and above. */
function isSmooth(image: Uint32Array, at: number, width: number): boolean {
  return (
    isNear(image, at, image, at - 1, MAX_STEP) &&
    isNear(image, at, image, at - width, MAX_STEP) &&
    isNear(image, at, image, at - width - 1, MAX_STEP)
  );
}

export function isNear(a: Uint32Array, atA: number, b: Uint32Array, atB: number, levels: number): boolean {
  const one = a[atA] ?? 0;
  const other = b[atB] ?? 0;
  if (one === other) return true;
  return (
    Math.abs((one & 0xff) - (other & 0xff)) <= levels &&
    Math.abs(((one >>> 8) & 0xff) - ((other >>> 8) & 0xff)) <= levels &&
    Math.abs(((one >>> 16) & 0xff) - ((other >>> 16) & 0xff)) <= levels
  );
}
