import type { Locator, Page } from 'playwright';
import { isXPath } from '../page/selectors.ts';

/**
 * Returns a locator for the first element that the request's selector matches. Playwright's own selector engines are
 * disabled.
 */
export function locate(page: Page, selector: string): Locator {
  return page.locator(isXPath(selector) ? `xpath=${selector.replace(/^xpath=/, '')}` : `css=${selector}`).first();
}

/** Returns a locator for the first visible element whose whole text is `text`, whatever its case and spaces. */
export function locateText(page: Page, text: string): Locator {
  const words = text.trim().split(/\s+/).map(RegExp.escape);
  return page
    .getByText(new RegExp(`^\\s*${words.join('\\s+')}\\s*$`, 'i'))
    .filter({ visible: true })
    .first();
}
