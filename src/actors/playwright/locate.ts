import type { Locator, Page } from 'playwright';
import { isXPath } from '../page/selectors.ts';

/**
 * Returns a locator for the first element that the request's selector matches. Playwright's own selector engines are
 * disabled.
 */
export function locate(page: Page, selector: string): Locator {
  return page.locator(isXPath(selector) ? `xpath=${selector.replace(/^xpath=/, '')}` : `css=${selector}`).first();
}
