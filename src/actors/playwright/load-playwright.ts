import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BrowserType } from 'playwright';

const own = createRequire(createRequire(import.meta.url).resolve('playwright'));

/**
 * Loads Playwright on first use: a service without interactive captures never pays for it. Its two bundles, which hold
 * the event loop, are loaded in turns of their own. Measured: 0.13 s of CPU time each, 50 MiB together.
 */
export async function loadPlaywright(): Promise<BrowserType> {
  for (const bundle of ['utilsBundle', 'coreBundle']) {
    own(`playwright-core/lib/${bundle}`);
    await nextTurn();
  }
  const { chromium } = await import('playwright');
  return chromium;
}
