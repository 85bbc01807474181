import type { SelectorStep } from '../../capture/selector.ts';
import type { Rectangle } from '../boxes.ts';
import { drawnElement, isSeen, seenBox } from '../drawn-box.ts';
import { elementsBy } from '../find.ts';
import { reveal } from '../reveal.ts';
import { web } from '../web.ts';

/**
 * Scrolls to the first visible element that matches, in the page and in what scrolls there, and the page itself to its
 * top. Returns the element's box in the window, or why there is none.
 */
export function run(steps: readonly SelectorStep[], isFrame: boolean): 'absent' | 'invisible' | Rectangle {
  const matching = elementsBy(steps);
  if (matching.length === 0) return 'absent';
  const element = matching.find((each) => isSeen(each));
  if (element === undefined) return 'invisible';
  reveal(drawnElement(element), isFrame);
  if (!isFrame) web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  const box = seenBox(element);
  return box === null ? 'invisible' : { x: box.x, y: box.y, width: box.width, height: box.height };
}
