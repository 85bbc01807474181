import puppeteer from 'puppeteer';
import { captureIn, sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** One browser, and a context for each capture. `fast`: quickly encoded PNGs. */
export async function open({ browserPath, fast = false }) {
  const browser = await puppeteer.launch({
    executablePath: browserPath,
    args: [...sandboxFlags()],
    defaultViewport: VIEWPORT,
    acceptInsecureCerts: true,
  });
  return {
    capture: async (url, fullPage) =>
      captureIn(await browser.createBrowserContext(), url, { fullPage, optimizeForSpeed: fast }),
    close: () => browser.close(),
  };
}
