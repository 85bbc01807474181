import { boxOf, type PageElement } from '../dom/dom.ts';
import type { Style } from '../dom/web.ts';
import { alphaOf } from './colours.ts';

/** Opacity below which nobody sees anything. */
const MIN_OPACITY = 0.05;
/** Size in CSS pixels below which nobody reads anything. */
const MIN_FONT_SIZE = 2;

/**
 * Names why an element hides all of its text, by its own style: `''` when it does not. `opacity` is that of the
 * elements around it.
 */
export function whyHides(element: PageElement, style: Style, opacity: number): string {
  if (style.display === 'none') return 'display';
  if (style.contentVisibility === 'hidden') return 'content-visibility';
  if (opacity * Number(style.opacity) < MIN_OPACITY) return 'opacity';
  if (style.filter !== 'none' && /\bopacity\((?:0|0?\.0[0-4]\d*|[0-4]?(?:\.\d+)?%)\)/.test(style.filter))
    return 'filter';
  if (style.clip !== 'auto' && /absolute|fixed/.test(style.position) && isEmptyRect(style.clip)) return 'clip';
  return style.clipPath.startsWith('none') || !isEmptyShape(style.clipPath, element) ? '' : 'clip-path';
}

/** Names why the style of its parent hides a text; `''` when it does not. */
export function whyHidesText(style: Style): string {
  if (style.visibility !== 'visible') return 'visibility';
  if (Number.parseFloat(style.fontSize) < MIN_FONT_SIZE) return 'font-size';
  if (style.webkitTextSecurity !== 'none') return 'text-security';
  return isDrawn(style) ? '' : 'transparent';
}

function isDrawn(style: Style): boolean {
  const hasInk = (colour: string) => alphaOf(colour) >= MIN_OPACITY;
  if (hasInk(style.webkitTextFillColor)) return true;
  if (Number.parseFloat(style.webkitTextStrokeWidth) > 0 && hasInk(style.webkitTextStrokeColor)) return true;
  if (style.textShadow !== 'none' && !/^(?:transparent|rgba\([^)]*, 0\)) /.test(style.textShadow)) return true;
  return style.backgroundClip === 'text' && (style.backgroundImage !== 'none' || hasInk(style.backgroundColor));
}

function isEmptyRect(clip: string): boolean {
  const sides = /^rect\((.*)\)$/.exec(clip)?.[1];
  if (sides === undefined) return false;
  const [top = 0, right = 0, bottom = 0, left = 0] = sides.split(/[ ,]+/).map((side) => Number.parseFloat(side));
  return bottom - top <= 1 || right - left <= 1;
}

function isEmptyShape(shape: string, element: PageElement): boolean {
  const { width, height } = boxOf(element);
  const inset = /^inset\((.*?)(?: round .*)?\)/.exec(shape)?.[1];
  if (inset !== undefined) {
    const [top = '', right = top, bottom = top, left = right] = inset.split(' ');
    const length = (side: string, whole: number) =>
      side.endsWith('%') ? (Number.parseFloat(side) / 100) * whole : Number.parseFloat(side);
    if (length(top, height) + length(bottom, height) >= height - 1) return true;
    if (length(left, width) + length(right, width) >= width - 1) return true;
  }
  if (/^(?:circle|ellipse)\(0(?:px|%)?(?: |\))/.test(shape)) return true;
  const polygon = /^polygon\((?:\w+, )?(.*)\)/.exec(shape)?.[1];
  return polygon !== undefined && isEmptyPolygon(polygon);
}

function isEmptyPolygon(polygon: string): boolean {
  const points = polygon.split(', ').map((point) => point.split(' ').map((side) => Number.parseFloat(side)));
  const span = (axis: number) => {
    const places = points.map((point) => point[axis] ?? Number.NaN);
    return Math.max(...places) - Math.min(...places);
  };
  return !(span(0) > 1 && span(1) > 1);
}
