import { crawleeDriver } from './crawlee.mjs';

/** Full concurrency from the start, no generated fingerprints, and Chromium's fast PNG encoding. */
export const open = crawleeDriver(
  async (page) => {
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
    return Buffer.from(data, 'base64');
  },
  (concurrency) => ({
    minConcurrency: concurrency,
    browserPoolOptions: { useFingerprints: false },
    useSessionPool: false,
  }),
);
