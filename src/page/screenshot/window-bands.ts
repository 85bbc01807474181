import type { Rectangle } from '../../capture/options/screenshot.ts';
import { tilesOf } from './rectangles.ts';
import { bandsOf, periodOf } from './screenshot-size.ts';
import type { ShotPlan } from './shot-plan.ts';

/** Maximum number of windows that the page is scrolled to; with more, the window is made higher. */
const MAX_WINDOWS = 20;

/** Rows of the page, in CSS pixels from its top. */
export interface Rows {
  readonly top: number;
  readonly bottom: number;
}

/** A part of the page to take a screenshot of: in the window, which is scrolled to it, or beyond the window. */
export interface PlannedBand extends Rectangle {
  readonly inWindow: boolean;
}

/**
 * Cuts a part into bands, of which those with something fixed behind them are taken in the window. Returns null when
 * that takes too many windows.
 */
export function windowBands(
  part: Rectangle,
  beforeFixed: readonly Rows[],
  window: Rectangle,
  plan: ShotPlan,
): readonly PlannedBand[] | null {
  // Bands end where a row of CSS pixels and a row of image pixels end together.
  const period = periodOf(plan.scale);
  const step = Math.max(period, window.height - (window.height % period));
  const end = part.y + part.height;
  const down = (y: number) => part.y + Math.floor((y - part.y) / period) * period;
  const up = (y: number) => Math.min(end, part.y + Math.ceil((y - part.y) / period) * period);
  const isWide = part.x < window.x || part.x + part.width > window.x + window.width;
  const bands: PlannedBand[] = [];
  const add = (rows: Rows, inWindow: boolean) => {
    const rectangle = { ...part, y: rows.top, height: rows.bottom - rows.top };
    const cut = inWindow ? tilesOf(rectangle, part.width, step) : bandsOf(rectangle, plan);
    for (const each of cut) bands.push({ ...each, inWindow });
  };
  let y = part.y;
  for (const rows of isWide ? [] : beforeFixed.toSorted((one, other) => one.top - other.top)) {
    const top = Math.max(y, down(rows.top));
    const bottom = up(rows.bottom);
    if (bottom <= top) continue;
    if (top > y) add({ top: y, bottom: top }, false);
    add({ top, bottom }, true);
    y = bottom;
  }
  if (y < end) add({ top: y, bottom: end }, false);
  return bands.filter(({ inWindow }) => inWindow).length > MAX_WINDOWS ? null : bands;
}
