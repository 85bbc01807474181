import { web } from '../web.ts';

/** Scrolls the window by this many CSS pixels. */
export function run(left: number, top: number): void {
  web.scrollBy({ left, top, behavior: 'instant' });
}
