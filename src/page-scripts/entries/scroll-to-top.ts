import { web } from '../web.ts';

/** Scrolls the window to the top of the page, and returns where it is then. */
export function run(): { x: number; y: number } {
  web.scrollTo({ top: 0, left: 0, behavior: 'instant' });
  return { x: web.scrollX, y: web.scrollY };
}
