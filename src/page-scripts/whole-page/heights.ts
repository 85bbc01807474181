import { ancestors } from '../dom/composed-tree.ts';
import { bodyOf, type PageElement, page } from '../dom/dom.ts';
import { eachElement } from '../dom/each-element.ts';
import { setStyle } from '../dom/set-style.ts';
import { type Style, web } from '../dom/web.ts';
import { kept } from '../running/kept.ts';
import { backdrops } from './backdrops.ts';

/** Lengths that can follow the height of the window. */
const LENGTHS = {
  height: 'height',
  'min-height': 'minHeight',
  'padding-top': 'paddingTop',
  'padding-bottom': 'paddingBottom',
  'margin-top': 'marginTop',
  'margin-bottom': 'marginBottom',
  'grid-template-rows': 'gridTemplateRows',
} as const;

/**
 * Notes lengths of elements, and positions of fixed ones, for `keepHeights`; not of backdrops, which follow the window.
 */
export function noteHeights(): void {
  const heights = noted();
  heights.clear();
  const body = bodyOf(page);
  if (body === null) return;
  const look = (element: PageElement): void => {
    if (!isOfBackdrop(element)) heights.set(element, lengthsOf(web.getComputedStyle(element)));
  };
  look(body);
  eachElement(body, look);
}

/**
 * In a window of another height, gives what follows the height of the window, as `100vh` does, the lengths that were
 * noted, and fixed elements their position.
 */
export function keepHeights(): void {
  const followers: [PageElement, Lengths][] = [];
  for (const [element, before] of noted()) {
    const now = lengthsOf(web.getComputedStyle(element));
    const changed = Object.entries(before).filter(([name, value]) => now[name] !== value);
    if (changed.length === 0) continue;
    const { height = '', 'min-height': minimum = '', top } = before;
    // A percentage may be one of a height that follows the window.
    const heights = { height, 'min-height': minimum.endsWith('%') ? '0px' : minimum };
    followers.push([element, { ...heights, ...Object.fromEntries(changed), ...(top && { top, bottom: 'auto' }) }]);
  }
  for (const [element, lengths] of followers) setStyle(element, lengths);
}

type Lengths = Readonly<Record<string, string>>;

function lengthsOf(style: Style): Lengths {
  const lengths = Object.entries(LENGTHS).map(([name, property]) => [name, style[property]]);
  return { ...Object.fromEntries(lengths), ...(style.position === 'fixed' && { top: style.top }) };
}

function isOfBackdrop(element: PageElement): boolean {
  return backdrops().size > 0 && ancestors(element).some((each) => backdrops().has(each));
}

const noted = () => kept('heights', () => new Map<PageElement, Lengths>());
