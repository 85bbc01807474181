import { setImmediate as nextTurn } from 'node:timers/promises';
import { Configuration, PlaywrightCrawler } from '@crawlee/playwright';
import { chromium } from 'playwright';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';

/**
 * A crawler that stays open and receives one batch after another. Its pages are incognito pages: by default they would
 * share a context, which would be less work than the other drivers do.
 */
export function crawleeDriver(screenshot, crawlerOptions) {
  return async ({ browserPath, concurrency }) => {
    const done = new Map();
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
          const html = await page.content();
          done.get(request.uniqueKey)?.resolve({ image, html });
        },
        failedRequestHandler({ request }, error) {
          done.get(request.uniqueKey)?.reject(error);
        },
        ...crawlerOptions(concurrency),
      },
      new Configuration({ persistStorage: false, logLevel: 'ERROR' }),
    );
    const running = crawler.run();
    while (crawler.autoscaledPool === undefined) await nextTurn();
    let asked = 0;

    return {
      async run(urls, atOnce) {
        // Keeps the concurrency that the crawler's own scaling has reached, and changes only the upper bound.
        crawler.autoscaledPool.maxConcurrency = atOnce;
        crawler.autoscaledPool.minConcurrency = Math.min(crawler.autoscaledPool.minConcurrency, atOnce);
        const requests = urls.map((url) => {
          asked += 1;
          return { url, uniqueKey: String(asked) };
        });
        const outcomes = requests.map(({ uniqueKey }) => {
          const outcome = Promise.withResolvers();
          done.set(uniqueKey, outcome);
          return outcome.promise;
        });
        await crawler.addRequests(requests);
        const captured = await Promise.all(outcomes);
        done.clear();
        return {
          captures: captured.length,
          imageBytes: captured.reduce((sum, { image }) => sum + image.byteLength, 0),
          htmlCharacters: captured.reduce((sum, { html }) => sum + html.length, 0),
        };
      },
      async close() {
        crawler.stop();
        await running;
      },
    };
  };
}

export const open = crawleeDriver(
  (page) => page.screenshot({ type: 'png' }),
  () => ({}),
);
