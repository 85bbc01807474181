import { page } from '../dom.ts';
import { kept } from '../kept.ts';
import { adoptedSheetsOf, adoptSheets } from '../styles.ts';
import { web } from '../web.ts';

/**
 * Adds a style sheet to the page's document unless it is there. A constructed sheet is exempt from the page's
 * Content-Security-Policy, comes after the page's own sheets, and does not appear in the HTML snapshot.
 */
export function run(css: string): void {
  if (web.top !== web) return;
  const sheet = kept('sheet', () => {
    const made = new web.CSSStyleSheet();
    made.replaceSync(css);
    return made;
  });
  const adopted = adoptedSheetsOf(page);
  if (!adopted.includes(sheet)) adoptSheets(page, [...adopted, sheet]);
}
