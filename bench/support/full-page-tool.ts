import { chromium } from 'playwright';
import { sandboxFlags, VIEWPORT } from './driver.ts';
import { startServiceProcess } from './service-process.ts';

/** A tool that captures one page at a time, at its default settings. */
export interface Tool {
  readonly name: string;
  /** Resolves with a PNG of the window, or of the full page. */
  capture(url: string, fullPage: boolean): Promise<Uint8Array>;
  close(): Promise<unknown>;
}

/** The methods that browser contexts of Playwright and puppeteer have in common. */
interface Context {
  newPage(): Promise<{
    goto(url: string, options: { readonly waitUntil: 'load' }): Promise<unknown>;
    screenshot(options: { readonly type: 'png'; readonly fullPage: boolean }): Promise<Uint8Array>;
    content(): Promise<string>;
  }>;
  close(): Promise<unknown>;
}

/** A tool that opens a browser context for each capture, and takes the screenshot at `load`. */
export function contextTool(name: string, newContext: () => Promise<Context>, close: () => Promise<unknown>): Tool {
  return {
    name,
    async capture(url, fullPage) {
      const context = await newContext();
      try {
        const page = await context.newPage();
        await page.goto(url, { waitUntil: 'load' });
        const image = await page.screenshot({ type: 'png', fullPage });
        await page.content();
        return image;
      } finally {
        await context.close();
      }
    },
    close,
  };
}

export async function openService(browserPath: string): Promise<Tool> {
  const service = await startServiceProcess({ browserPath });
  return {
    name: 'capstan',
    async capture(url, fullPage) {
      const { status, body } = await service.capture(url, { fullPage });
      if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
      const image = await fetch(service.origin + JSON.parse(body).data.screenshot);
      return new Uint8Array(await image.arrayBuffer());
    },
    close: () => service.stop(),
  };
}

export async function openPlaywright(executablePath: string): Promise<Tool> {
  const browser = await chromium.launch({ executablePath, args: [...sandboxFlags()] });
  return contextTool(
    'Playwright',
    () => browser.newContext({ viewport: VIEWPORT }),
    () => browser.close(),
  );
}
