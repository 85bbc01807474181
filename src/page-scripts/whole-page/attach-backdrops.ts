import { bodyOf, boxOf, page, select } from '../dom/dom.ts';
import { positioned, search } from '../dom/positioned.ts';
import { setStyle } from '../dom/set-style.ts';
import { web } from '../dom/web.ts';
import { clipAround, hasFixedBackground, hasFixedContent, isClip } from './behind-scrolling.ts';

/** Share of the window's width from which on a fixed element fills the section that clips it. */
const MIN_WIDTH_SHARE = 0.9;
const FILLING = {
  inset: '0',
  width: '100%',
  height: '100%',
  'max-width': 'none',
  'max-height': 'none',
  margin: '0',
  transform: 'none',
  'object-fit': 'cover',
};

/**
 * Puts backgrounds and elements that are fixed to the window into the sections that show them: on paper, Chromium
 * paints these backgrounds in the first rows alone, and these elements on each sheet. Those of the whole page stay.
 */
export function attachBackdrops(): void {
  const body = bodyOf(page);
  for (const element of search((each) => each !== body && hasFixedBackground(web.getComputedStyle(each)))) {
    setStyle(element, { 'background-attachment': 'scroll' });
  }
  for (const clip of search((each) => isClip(web.getComputedStyle(each)))) {
    // A transformed element contains the fixed ones in it. Generated content cannot be styled by itself.
    if ([clip, ...select(clip, '*')].some(hasFixedContent)) setStyle(clip, { 'will-change': 'transform' });
  }
  for (const element of positioned('fixed')) {
    const clip = clipAround(element);
    if (clip === null) continue;
    if (web.getComputedStyle(clip).position === 'static') setStyle(clip, { position: 'relative' });
    const fills = boxOf(element).width >= web.innerWidth * MIN_WIDTH_SHARE;
    setStyle(element, { position: 'absolute', transition: 'none', ...(fills && FILLING) });
  }
}
