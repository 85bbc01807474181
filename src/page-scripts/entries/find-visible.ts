import type { SelectorStep } from '../../capture/selector.ts';
import { type Box, boxOf } from '../dom.ts';
import { elementsBy, isSeen } from '../find.ts';
import { reveal } from '../reveal.ts';
import { web } from '../web.ts';

/**
 * Scrolls to the first visible element that matches, in the page and in what scrolls there, and the page itself to its
 * top. Returns the element's box in the window, or why there is none.
 */
export function run(
  steps: readonly SelectorStep[],
  isFrame: boolean,
): 'absent' | 'invisible' | Pick<Box, 'x' | 'y' | 'width' | 'height'> {
  const matching = elementsBy(steps);
  if (matching.length === 0) return 'absent';
  const element = matching.find(isSeen);
  if (element === undefined) return 'invisible';
  reveal(element, isFrame);
  if (!isFrame) web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  const { x, y, width, height } = boxOf(element);
  return { x, y, width, height };
}
