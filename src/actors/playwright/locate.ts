import type { Locator, Page } from 'playwright-core';
import { isXPath } from '../page/selectors.ts';

/** The first element that a request's selector matches, now or later. Playwright's other kinds of selectors are none. */
export function locate(page: Page, selector: string): Locator {
  return page.locator(isXPath(selector) ? `xpath=${selector.replace(/^xpath=/, '')}` : `css=${selector}`).first();
}
