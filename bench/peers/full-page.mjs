import puppeteer from 'puppeteer';
import { sandboxFlags, VIEWPORT } from '../support/driver.ts';
import { contextTool } from '../support/full-page-tool.ts';

/** puppeteer's own `fullPage` at its defaults: one browser, and a context for each capture. */
export async function open(executablePath) {
  const browser = await puppeteer.launch({ executablePath, args: [...sandboxFlags()], defaultViewport: VIEWPORT });
  return contextTool(
    'puppeteer',
    () => browser.createBrowserContext(),
    () => browser.close(),
  );
}
