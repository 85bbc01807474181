import { chromium } from 'playwright';
import { type Driver, type DriverOptions, inFlight, sandboxFlags, VIEWPORT } from './support/driver.ts';

/** Does the same work through Playwright's own API, with one browser and a context for each capture. */
export async function open({ browserPath, fullPage = false, timeoutMs }: DriverOptions): Promise<Driver> {
  const browser = await chromium.launch({ executablePath: browserPath, args: [...sandboxFlags()] });
  const capture = async (url: string) => {
    const context = await browser.newContext({ viewport: VIEWPORT, ignoreHTTPSErrors: true });
    try {
      const page = await context.newPage();
      if (timeoutMs === undefined) await page.goto(url, { waitUntil: 'load' });
      else if (!(await page.goto(url, { waitUntil: 'load', timeout: timeoutMs }).catch(() => null))) return undefined;
      const image = await page.screenshot({ type: 'png', fullPage });
      return { image, html: await page.content() };
    } finally {
      await context.close();
    }
  };
  return { run: (urls, concurrency) => inFlight(urls, concurrency, capture), close: () => browser.close() };
}
