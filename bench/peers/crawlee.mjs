import { setImmediate as nextTurn } from 'node:timers/promises';
import { Configuration, PlaywrightCrawler } from '@crawlee/playwright';
import { chromium } from 'playwright';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** Full concurrency from the start, and no generated fingerprints. */
const fastest = (concurrency) => ({
  minConcurrency: concurrency,
  browserPoolOptions: { useFingerprints: false },
  useSessionPool: false,
});

/**
 * A crawler that stays open and receives one URL after another. Its pages are incognito pages: by default they would
 * share a context, which would be less work than the other drivers do. `fast`: `fastest`, and quickly encoded PNGs.
 */
export async function open({ browserPath, concurrency, fast = false }) {
  const waiting = new Map();
  const screenshot = async (page) => {
    if (!fast) return page.screenshot({ type: 'png' });
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
    return Buffer.from(data, 'base64');
  };
  const crawler = new PlaywrightCrawler(
    {
      keepAlive: true,
      maxConcurrency: concurrency,
      launchContext: {
        launcher: chromium,
        useIncognitoPages: true,
        launchOptions: { executablePath: browserPath, args: [...sandboxFlags()] },
      },
      preNavigationHooks: [({ page }) => page.setViewportSize(VIEWPORT)],
      async requestHandler({ page, request }) {
        const image = await screenshot(page);
        await page.content();
        waiting.get(request.uniqueKey)?.resolve(image);
      },
      failedRequestHandler: ({ request }, error) => waiting.get(request.uniqueKey)?.reject(error),
      ...(fast ? fastest(concurrency) : {}),
    },
    new Configuration({ persistStorage: false, logLevel: 'ERROR' }),
  );
  const running = crawler.run();
  while (crawler.autoscaledPool === undefined) await nextTurn();
  let asked = 0;

  return {
    async capture(url) {
      asked += 1;
      const uniqueKey = String(asked);
      const outcome = Promise.withResolvers();
      waiting.set(uniqueKey, outcome);
      await crawler.addRequests([{ url, uniqueKey }]);
      return outcome.promise.finally(() => waiting.delete(uniqueKey));
    },
    async close() {
      crawler.stop();
      await running;
    },
  };
}
