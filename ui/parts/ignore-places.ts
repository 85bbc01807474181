import type { Box } from '../api/types.ts';
import { boxesOf, type CapturedPage } from './captured-page.ts';

const SELECTOR = 'selector:';

/** Returns what `ignore` of the API calls the elements of a selector. */
export function ofSelector(selector: string): string {
  return SELECTOR + selector;
}

/** Returns the selector of an ignored element; undefined for others. */
export function selectorOf(ignored: string): string | undefined {
  return ignored.startsWith(SELECTOR) ? ignored.slice(SELECTOR.length) : undefined;
}

/** Returns what `ignore` of the API calls a rectangle of the image. */
export function ofBox({ x, y, width, height }: Box): string {
  return [x, y, width, height].map(Math.round).join(',');
}

/** Returns the places in an image that `ignore` names: of rectangles, and of elements, which need the element map. */
export function placesOf(ignored: string, page: CapturedPage | undefined): readonly Box[] {
  const selector = selectorOf(ignored);
  if (selector !== undefined) return boxesOf(page?.matching(selector) ?? []);
  if (!/^\d+(,\d+){3}$/.test(ignored)) return [];
  const [x = 0, y = 0, width = 0, height = 0] = ignored.split(',').map(Number);
  return [{ x, y, width, height }];
}
