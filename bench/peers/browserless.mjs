import createBrowserless from 'browserless';
import puppeteer from 'puppeteer';
import { inFlight, sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** One browser, a context for each capture; the picture and the HTML of one visit. */
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

// Waits for the network to be idle and blocks advertisements, as it does when it is told nothing.
export const open = browserlessDriver({}, {});
