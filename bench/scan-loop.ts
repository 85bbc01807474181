import { chromium } from 'playwright';
import { type Driver, type DriverOptions, sandboxFlags, VIEWPORT } from './support/driver.ts';

/** As `TIMEOUT_MS` of the scan. */
const TIMEOUT_MS = 10_000;

/** Opens each URL in a context of its own through Playwright, and captures those that answer. */
export async function open({ browserPath }: DriverOptions): Promise<Driver> {
  const browser = await chromium.launch({ executablePath: browserPath, args: [...sandboxFlags()] });
  return {
    async run(urls, concurrency) {
      const work = { captures: 0, imageBytes: 0, htmlCharacters: 0 };
      const waiting = urls.values();
      const worker = async () => {
        for (const url of waiting) {
          const context = await browser.newContext({ viewport: VIEWPORT });
          const page = await context.newPage();
          const isOpen = await page.goto(url, { waitUntil: 'load', timeout: TIMEOUT_MS }).catch(() => null);
          if (isOpen !== null) {
            work.captures += 1;
            work.imageBytes += (await page.screenshot({ type: 'png' })).byteLength;
            work.htmlCharacters += (await page.content()).length;
          }
          await context.close();
        }
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
      return work;
    },
    close: () => browser.close(),
  };
}
