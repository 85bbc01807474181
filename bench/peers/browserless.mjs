import createBrowserless from 'browserless';
import puppeteer from 'puppeteer';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';

/**
 * One browser, and a context for each capture. By default, browserless waits for an idle network and blocks
 * advertisements. `fast`: waits for `load` only, and encodes PNGs quickly.
 */
export async function open({ browserPath, fast = false }) {
  const browserless = createBrowserless({ puppeteer, executablePath: browserPath, args: [...sandboxFlags()] });
  const viewport = { ...VIEWPORT, deviceScaleFactor: 1 };
  const capture = async (url) => {
    const context = await browserless.createContext();
    try {
      const visit = context.withPage((page, goto) => async () => {
        await goto(page, { url, viewport, ...(fast ? { waitUntil: 'load', adblock: false } : {}) });
        const image = await page.screenshot({ type: 'png', optimizeForSpeed: fast });
        await page.content();
        return image;
      });
      return await visit();
    } finally {
      await context.destroyContext();
    }
  };
  return { capture, close: () => browserless.close() };
}
