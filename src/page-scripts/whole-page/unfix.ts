import { hide, unstick } from '../changes/hide.ts';
import type { PageElement } from '../dom/dom.ts';
import { positioned } from '../dom/positioned.ts';
import { styleOf } from '../dom/styles.ts';
import { kept } from '../running/kept.ts';
import { backdrops } from './backdrops.ts';

/** Hides fixed elements but those behind the page, and puts sticky ones where they are at the top of the page. */
export function unfix(): void {
  const fixed = positioned('fixed').filter((element) => !backdrops().has(element));
  for (const element of fixed) change(element, hide);
  for (const element of positioned('sticky')) change(element, unstick);
}

/** Takes back what `unfix` changed. */
export function refix(): void {
  for (const [element, text] of unfixed()) {
    const style = styleOf(element);
    if (style !== undefined) style.cssText = text;
  }
  unfixed().clear();
}

function change(element: PageElement, how: (element: PageElement) => void): void {
  const style = styleOf(element);
  if (style !== undefined && !unfixed().has(element)) unfixed().set(element, style.cssText);
  how(element);
}

/** The text of the style that each changed element had of its own. */
const unfixed = () => kept('unfixed', () => new Map<PageElement, string>());
