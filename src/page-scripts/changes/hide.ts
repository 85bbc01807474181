import { drawnIn, isContents } from '../boxes/drawn-box.ts';
import { isElement, type PageElement } from '../dom/dom.ts';
import { setStyle } from '../dom/set-style.ts';

/** Hides an element with all its content, even content that sets its own visibility, and the backdrop of a dialog. */
export function hide(element: PageElement): void {
  const left = [element];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    // Without a box, an element has no opacity for its content.
    if (isContents(each)) left.push(...drawnIn(each).filter(isElement));
    setStyle(each, { opacity: '0', visibility: 'hidden', transition: 'none', 'backdrop-filter': 'none' });
  }
}

/** Takes an element out of the layout. */
export function collapse(element: PageElement): void {
  setStyle(element, { display: 'none' });
}

/** Shows a sticky element where it would be on a page that is not scrolled. */
export function unstick(element: PageElement): void {
  setStyle(element, { position: 'relative', inset: 'auto', transition: 'none' });
}
