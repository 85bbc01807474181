import puppeteer from 'puppeteer';
import { inFlight, sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** puppeteer at its fastest: one browser, a context for each capture, quickly encoded PNGs. */
export async function open({ browserPath, fullPage = false }) {
  const browser = await puppeteer.launch({
    executablePath: browserPath,
    args: [...sandboxFlags()],
    defaultViewport: VIEWPORT,
    acceptInsecureCerts: true,
  });
  const capture = async (url) => {
    const context = await browser.createBrowserContext();
    try {
      const page = await context.newPage();
      await page.goto(url, { waitUntil: 'load' });
      const image = await page.screenshot({ type: 'png', optimizeForSpeed: true, fullPage });
      return { image, html: await page.content() };
    } finally {
      await context.close();
    }
  };
  return { run: (urls, atOnce) => inFlight(urls, atOnce, capture), close: () => browser.close() };
}
