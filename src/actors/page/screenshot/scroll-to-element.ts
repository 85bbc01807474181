import { z } from 'zod';
import type { Rectangle } from '../../../capture/options/screenshot.ts';
import type { Deadline } from '../../deadline.ts';
import { retryUntilAnswered } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';
import { elementsOf, notASelector } from '../selectors.ts';

const found = z.union([
  z.enum(['absent', 'invisible', 'not a selector']),
  z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
]);

/**
 * Returns the box of the first visible element that matches, in CSS pixels of the page, or the reason why there is
 * none. Scroll containers within the page are scrolled to it; the page itself stays at its top. Throws
 * `selector_not_found` for an invalid selector.
 */
export async function scrollToElement(
  page: IsolatedPage,
  selector: string,
  deadline: Deadline,
): Promise<Rectangle | 'absent' | 'invisible'> {
  const expression = `(${SCROLL_TO})(() => ${elementsOf(selector)})`;
  const box = found.parse(await retryUntilAnswered(page, deadline, 'look for the selector', expression));
  if (box === 'not a selector') throw notASelector(selector);
  return box;
}

/** Runs in the page. */
const SCROLL_TO = `(find) => {
  let matching;
  try {
    matching = find();
  } catch {
    return 'not a selector';
  }
  if (matching.length === 0) return 'absent';
  const box = (element) => Element.prototype.getBoundingClientRect.call(element);
  const element = matching.find((each) => {
    const { width, height } = box(each);
    return width > 0 && height > 0 && Element.prototype.checkVisibility.call(each, { visibilityProperty: true });
  });
  if (element === undefined) return 'invisible';
  Element.prototype.scrollIntoView.call(element, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  scrollTo({ top: 0, left: 0, behavior: 'instant' });
  const { x, y, width, height } = box(element);
  return { x: x + scrollX, y: y + scrollY, width, height };
}`;
