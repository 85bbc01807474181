import createBrowserless from 'browserless';
import puppeteer from 'puppeteer';
import { inFlight, sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** One browser, and a context for each capture, which takes the screenshot and the HTML. */
export function browserlessDriver(gotoOptions, screenshotOptions) {
  return async ({ browserPath }) => {
    const browserless = createBrowserless({ puppeteer, executablePath: browserPath, args: [...sandboxFlags()] });
    const viewport = { ...VIEWPORT, deviceScaleFactor: 1 };
    const capture = async (url) => {
      const context = await browserless.createContext();
      try {
        const visit = context.withPage((page, goto) => async () => {
          await goto(page, { url, viewport, ...gotoOptions });
          const image = await page.screenshot({ type: 'png', ...screenshotOptions });
          return { image, html: await page.content() };
        });
        return await visit();
      } finally {
        await context.destroyContext();
      }
    };
    return { run: (urls, concurrency) => inFlight(urls, concurrency, capture), close: () => browserless.close() };
  };
}

// The default settings: browserless waits for an idle network and blocks advertisements.
export const open = browserlessDriver({}, {});
