import puppeteer from 'puppeteer';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** puppeteer's own `fullPage` at its defaults: one browser, and a context for each capture. */
export async function open(executablePath) {
  const browser = await puppeteer.launch({ executablePath, args: [...sandboxFlags()], defaultViewport: VIEWPORT });
  return {
    name: 'puppeteer',
    async capture(url, fullPage) {
      const context = await browser.createBrowserContext();
      try {
        const page = await context.newPage();
        await page.goto(url, { waitUntil: 'load' });
        const image = await page.screenshot({ type: 'png', fullPage });
        await page.content();
        return image;
      } finally {
        await context.close();
      }
    },
    close: () => browser.close(),
  };
}
