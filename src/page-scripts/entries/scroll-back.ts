import { refix } from '../unfix.ts';
import { web } from '../web.ts';

/** Scrolls back to the top after `scroll-tall-window`, and takes back what it changed. */
export function run(): void {
  refix();
  web.scrollTo({ top: 0, left: web.scrollX, behavior: 'instant' });
}
