import { hide, unstick } from '../changes/hide.ts';
import type { PageElement } from '../dom/dom.ts';
import { positioned } from '../dom/positioned.ts';
import { styleOf } from '../dom/styles.ts';
import { kept } from '../running/kept.ts';
import { backdrops } from './backdrops.ts';
import { fillWindow } from './sticky-backdrops.ts';

/** Hides fixed elements, and puts sticky ones where they are at the top of the page, except those behind the page. */
export function unfix(): void {
  const others = (position: 'fixed' | 'sticky') => positioned(position).filter((element) => !backdrops().has(element));
  for (const element of others('fixed')) change(element, hide);
  for (const element of others('sticky')) change(element, unstick);
}

/** Lets sticky elements behind the page fill the window. */
export function fillWithSticky(): void {
  for (const element of positioned('sticky')) if (backdrops().has(element)) change(element, fillWindow);
}

/** Takes back what `unfix` and `fillWithSticky` changed. */
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
