import { unfix } from '../unfix.ts';
import { web } from '../web.ts';

/** Scrolls to a part that the window does not show at its top. Fixed and sticky elements stay where they are. */
export function run(top: number, height: number): void {
  if (top + height <= web.innerHeight) return;
  unfix();
  web.scrollTo({ top, left: web.scrollX, behavior: 'instant' });
}
