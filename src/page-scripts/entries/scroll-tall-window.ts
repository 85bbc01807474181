import { unfix } from '../unfix.ts';
import { web } from '../web.ts';

/**
 * Scrolls to a part that the window does not show at its top, and back to the top for others. Fixed and sticky elements
 * stay where they are.
 */
export function run(top: number, height: number): void {
  const isFirst = top + height <= web.innerHeight;
  if (!isFirst) unfix();
  const middle = Math.round(top - (web.innerHeight - height) / 2);
  web.scrollTo({ top: isFirst ? 0 : middle, left: web.scrollX, behavior: 'instant' });
}
