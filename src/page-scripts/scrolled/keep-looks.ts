import { setStyle } from '../set-style.ts';
import { lookOf, showsMore } from './looks.ts';
import { hidePopups } from './popups.ts';
import { scrolledBefore } from './state.ts';

/**
 * Gives elements the look that they had in the middle of the window, when the page has hidden them since, and hides
 * what came over the window while it was scrolled. Call it at the top of the page, after its HTML was read.
 */
export function keepLooks(): void {
  const state = scrolledBefore();
  if (state === undefined) return;
  const kept = [...state.looks].filter(([element, { look, follows }]) => follows || showsMore(look, lookOf(element)));
  for (const [element, { look }] of kept) setStyle(element, { ...Object.fromEntries(look), transition: 'none' });
  hidePopups(state);
}
