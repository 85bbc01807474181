import { MAX_STEP } from './recoloured-areas.ts';

/** Maximum number of pixels that an edge changes which moves by a fraction of a pixel. */
const MAX_EDGE = 2;
/** Maximum number of pixels in a row that a line changes which moves so. Within thicker lines, pixels stay the same. */
const MAX_LINE = 4;
/** Step in which browsers round how much of a pixel a shape covers. Measured: lines of SVG in Chromium. */
const COVERAGE_STEP = 1 / 4;
const CHANNELS = [0, 8, 16] as const;

/** Indexes of the pixels across a line or an edge: from `first` to before `end`, in steps. */
interface Across {
  readonly first: number;
  readonly end: number;
  readonly step: number;
}

/**
 * Whether pixels that differ do so because an edge or a line lies at another fraction of a pixel. `hasSides`: whether
 * the pixels beside them are in the images; without them, the narrowest ones count as edges.
 */
export function isMoved(a: Uint32Array, b: Uint32Array, across: Across, hasSides: boolean): boolean {
  const thickness = (across.end - across.first) / across.step;
  if (thickness > MAX_LINE) return false;
  if (!hasSides) return thickness <= MAX_EDGE;
  return (thickness <= MAX_EDGE && isMovedEdge(a, b, across)) || isMovedLine(a, b, across);
}

/** Whether all pixels are between the colours of the two sides, in both images. */
function isMovedEdge(a: Uint32Array, b: Uint32Array, { first, end, step }: Across): boolean {
  for (const channel of CHANNELS) {
    const [one, other] = [levelOf(a, first - step, channel), levelOf(a, end, channel)];
    const [low, high] = [Math.min(one, other) - MAX_STEP, Math.max(one, other) + MAX_STEP];
    for (let at = first; at < end; at += step) {
      const [before, after] = [levelOf(a, at, channel), levelOf(b, at, channel)];
      if (Math.min(before, after) < low || Math.max(before, after) > high) return false;
    }
  }
  return true;
}

/**
 * Whether some pixels lost about as much of the colour of a line as others gained. Where the sides have different
 * colours, pixels may gain the colour of a side, too: one of two pixels even all that the other lost.
 */
function isMovedLine(a: Uint32Array, b: Uint32Array, { first, end, step }: Across): boolean {
  const thickness = (end - first) / step;
  // Pixels are rounded, and those beside them may have changed a little, too.
  const rounding = MAX_STEP * (thickness + 2);
  let isExchange = false;
  for (const channel of CHANNELS) {
    const [one, other] = [levelOf(a, first - step, channel), levelOf(a, end, channel)];
    const sides = Math.abs(one - other);
    let [low, high] = [Math.min(one, other), Math.max(one, other)];
    let [gained, lost] = [0, 0];
    for (let at = first; at < end; at += step) {
      const [before, after] = [levelOf(a, at, channel), levelOf(b, at, channel)];
      if (after > before) gained += after - before;
      else lost += before - after;
      [low, high] = [Math.min(low, before, after), Math.max(high, before, after)];
    }
    if (Math.abs(gained - lost) > sides + (high - low) * COVERAGE_STEP + rounding) return false;
    if (Math.min(gained, lost) > MAX_STEP || (thickness === MAX_EDGE && sides > rounding)) isExchange = true;
  }
  return isExchange;
}

function levelOf(image: Uint32Array, at: number, channel: number): number {
  return ((image[at] ?? 0) >>> channel) & 0xff;
}
