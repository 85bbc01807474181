import puppeteer from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';

/** One browser, a context for each job: `Cluster.CONCURRENCY_CONTEXT` is its default. `fast`: quickly encoded PNGs. */
export async function open({ browserPath, concurrency, fast = false }) {
  const cluster = await Cluster.launch({
    concurrency: Cluster.CONCURRENCY_CONTEXT,
    maxConcurrency: concurrency,
    puppeteer,
    puppeteerOptions: { executablePath: browserPath, args: [...sandboxFlags()], defaultViewport: VIEWPORT },
  });
  await cluster.task(async ({ page, data: url }) => {
    await page.goto(url, { waitUntil: 'load' });
    const image = await page.screenshot({ type: 'png', optimizeForSpeed: fast });
    await page.content();
    return image;
  });
  return { capture: (url) => cluster.execute(url), close: () => cluster.idle().then(() => cluster.close()) };
}
