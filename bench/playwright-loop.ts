import { chromium } from 'playwright';
import { captureIn, type Driver, type DriverOptions, sandboxFlags, VIEWPORT } from './support/driver.ts';

/** Does the same work through Playwright's own API, with one browser and a context for each capture. */
export async function open({ browserPath, timeoutMs = 30_000 }: DriverOptions): Promise<Driver> {
  const browser = await chromium.launch({ executablePath: browserPath, args: [...sandboxFlags()] });
  return {
    capture: async (url, fullPage) =>
      captureIn(await browser.newContext({ viewport: VIEWPORT, ignoreHTTPSErrors: true }), url, {
        fullPage,
        timeoutMs,
      }),
    close: () => browser.close(),
  };
}
