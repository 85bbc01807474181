import puppeteer from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import { inFlight, sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** One browser, a context for each job: `Cluster.CONCURRENCY_CONTEXT` is its default. */
export function clusterDriver(screenshotOptions) {
  return async ({ browserPath, concurrency }) => {
    const cluster = await Cluster.launch({
      concurrency: Cluster.CONCURRENCY_CONTEXT,
      maxConcurrency: concurrency,
      puppeteer,
      puppeteerOptions: { executablePath: browserPath, args: [...sandboxFlags()], defaultViewport: VIEWPORT },
    });
    await cluster.task(async ({ page, data: url }) => {
      await page.goto(url, { waitUntil: 'load' });
      const image = await page.screenshot({ type: 'png', ...screenshotOptions });
      return { image, html: await page.content() };
    });
    return {
      run: (urls, atOnce) => inFlight(urls, atOnce, (url) => cluster.execute(url)),
      close: async () => {
        await cluster.idle();
        await cluster.close();
      },
    };
  };
}

export const open = clusterDriver({});
