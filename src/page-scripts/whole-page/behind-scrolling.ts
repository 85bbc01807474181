import { coveringNow } from '../boxes/overlays.ts';
import { composedParent } from '../dom/composed-tree.ts';
import {
  type Box,
  bodyOf,
  boxOf,
  checkVisibility,
  isElement,
  type PageElement,
  page,
  rootElementOf,
  scrollHeightOf,
} from '../dom/dom.ts';
import { eachElement } from '../dom/each-element.ts';
import { type Style, web } from '../dom/web.ts';
import { backdrops } from './backdrops.ts';
import { behindOthers, isCovered } from './behind-others.ts';

/** Share of the window's width and height from which on a fixed element is a backdrop. */
const MIN_BACKDROP_SHARE = 0.9;
/**
 * Share of the window's width, and height in pixels, from which on the generated content of an element is looked at.
 */
const MIN_PSEUDO_SHARE = 0.4;
const MIN_PSEUDO_HEIGHT = 100;
const PSEUDOS = ['::before', '::after'] as const;

/** Rows of the page, in CSS pixels from its top. */
export interface Rows {
  readonly top: number;
  readonly bottom: number;
}

/**
 * Returns the rows below the first window behind which something is fixed to the window: what they show depends on how
 * far the page is scrolled. The page is at its top.
 */
export function rowsBeforeFixed(): Rows[] {
  const [root, body] = [rootElementOf(page), bodyOf(page)];
  if (root === null) return [];
  const whole = { top: 0, bottom: scrollHeightOf(root) };
  const found: Rows[] = [];
  const large: PageElement[] = [];
  let isRevealed = false;
  const fixed: Box[] = [];
  const look = (element: PageElement): void => {
    const isRoot = element === root || element === body;
    const style = web.getComputedStyle(element);
    const box = boxOf(element);
    if (hasFixedBackground(style)) found.push(isRoot ? whole : box);
    if (style.position === 'fixed' && checkVisibility(element, { opacityProperty: true, visibilityProperty: true })) {
      const clip = clipAround(element);
      if (clip !== null) found.push(boxOf(clip));
      if (clip !== null) backdrops().add(element);
      else if (fills(box)) large.push(element);
      else if (endsWindow(box) && isCovered(element)) {
        backdrops().add(element);
        isRevealed = true;
      } else if (behindOthers(element)) {
        backdrops().add(element);
        found.push(whole);
      } else fixed.push(box);
    }
    const isSmall = box.height < MIN_PSEUDO_HEIGHT || box.width < web.innerWidth * MIN_PSEUDO_SHARE;
    if (isSmall && !isRoot) return;
    for (const pseudo of PSEUDOS) {
      const generated = web.getComputedStyle(element, pseudo);
      if (generated.content === 'none' || generated.display === 'none') continue;
      if (hasFixedBackground(generated)) found.push(isRoot ? whole : box);
      if (generated.position !== 'fixed') continue;
      const clip = isClip(style) ? element : clipAround(element);
      const size = { width: Number.parseFloat(generated.width), height: Number.parseFloat(generated.height) };
      if (clip !== null || fills(size) || Number(generated.zIndex) < 0) found.push(clip === null ? whole : boxOf(clip));
    }
  };
  look(root);
  eachElement(root, look);
  if (large.length > 0) {
    const covers = coveringNow();
    for (const element of large) {
      if (covers(element)) continue;
      backdrops().add(element);
      found.push(whole);
      isRevealed ||= isCovered(element);
    }
  }
  if (isRevealed) {
    // The end of the page is shown in one window, as to a visitor who scrolls there.
    const lastTop = Math.max(0, whole.bottom - web.innerHeight);
    for (const [at, rows] of found.entries()) if (rows === whole) found[at] = { top: 0, bottom: lastTop };
    found.push({ top: lastTop, bottom: whole.bottom });
  }
  const below = found.filter(({ top, bottom }) => bottom > web.innerHeight && bottom > top);
  // All other fixed elements lie in the first window, as at the top of the page.
  const meetsFixed = ({ top }: Rows) => fixed.some((box) => box.bottom > top && box.top < web.innerHeight);
  return below.map((rows) => ({
    top: Math.max(0, Math.floor(rows.top > 0 && meetsFixed(rows) ? Math.max(rows.top, web.innerHeight) : rows.top)),
    bottom: Math.ceil(rows.bottom),
  }));
}

export const hasFixedBackground = (style: Style): boolean =>
  style.backgroundImage !== 'none' && style.backgroundAttachment.includes('fixed');

const fills = ({ width, height }: Pick<Box, 'width' | 'height'>): boolean =>
  width >= web.innerWidth * MIN_BACKDROP_SHARE && height >= web.innerHeight * MIN_BACKDROP_SHARE;

const endsWindow = ({ bottom }: Box): boolean => Math.abs(bottom - web.innerHeight) <= 1;

export const isClip = ({ clipPath, clip }: Style): boolean => clipPath !== 'none' || clip !== 'auto';

/** Whether generated content of an element is fixed. */
export const hasFixedContent = (element: PageElement): boolean =>
  PSEUDOS.some((pseudo) => {
    const { content, position } = web.getComputedStyle(element, pseudo);
    return content !== 'none' && position === 'fixed';
  });

/** The nearest element around a fixed one that clips it; overflow does not. */
export function clipAround(element: PageElement): PageElement | null {
  let around = composedParent(element);
  while (isElement(around) && !isClip(web.getComputedStyle(around))) around = composedParent(around);
  return isElement(around) ? around : null;
}
