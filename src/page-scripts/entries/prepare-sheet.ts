import { page } from '../dom.ts';
import { noteHeights } from '../heights.ts';
import { adopt } from '../styles.ts';
import { web } from '../web.ts';

/** Removes breaks between pages, and notes heights that `keep-heights` keeps. */
export function run(): void {
  const sheet = new web.CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { break-before: auto !important; break-after: auto !important }');
  adopt(page, sheet);
  noteHeights();
}
