/* Colours as Chromium computes them: `rgb(0, 0, 0)`, `rgba(0, 0, 0, 0.5)`, `color(srgb 0 0 0 / 0.5)`, `transparent`. */

const NONE = 'rgba(0, 0, 0, 0)';
const CLEAR = /^(?:transparent|rgba\(.*, 0(?:\.\d+)?\))$/;
/** Alpha from which on a colour covers what is below it. */
const OPAQUE = 0.95;
/** Maximum difference in each channel of two colours that look the same. */
const MAX_DIFFERENCE = 6;

export function alphaOf(colour: string): number {
  // Most colours, and expressions are slow where they run first.
  if (colour.startsWith('rgb(')) return 1;
  if (colour === 'transparent') return 0;
  const alpha = /[,/] *([\d.]+%?)\)$/.exec(colour)?.[1];
  if (/^color\((?!.*\/)/.test(colour) || alpha === undefined) return 1;
  return alpha.endsWith('%') ? Number.parseFloat(alpha) / 100 : Number(alpha);
}

/** Whether a background of this colour shows what is below it. */
export const isClear = (colour: string): boolean => colour === NONE || CLEAR.test(colour);

export const isOpaqueColour = (colour: string): boolean => !isClear(colour) && (channelsOf(colour)[3] ?? 1) >= OPAQUE;

export function isNear(one: string, other: string): boolean {
  const [a, b] = [channelsOf(one), channelsOf(other)];
  if (a.length < 3 || b.length < 3) return false;
  return [0, 1, 2].every((at) => Math.abs((a[at] ?? 0) - (b[at] ?? 0)) <= MAX_DIFFERENCE);
}

const channelsOf = (colour: string): number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
