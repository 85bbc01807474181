/*
 * A driver captures pages (a screenshot and the HTML, with an isolated context for each). In a comparison, each runs in
 * a process of its own, so that its CPU time and memory, including its browser's, can be measured separately.
 */

export interface DriverOptions {
  /** Path of the Chromium that all drivers of a run use. */
  readonly browserPath: string;
  /** Maximum number of concurrent captures, for drivers that fix it at launch. */
  readonly concurrency: number;
  /** Uses the fastest settings that do the same work. @default false: the tool's own defaults */
  readonly fast?: boolean;
  /** Captures full pages, for drivers that can. @default false */
  readonly fullPage?: boolean;
  /**
   * Time limit for a page, in milliseconds, after which it is left out. @default A page that does not load is an error.
   */
  readonly timeoutMs?: number;
}

export interface Driver {
  /** Takes a PNG of the window, or of the full page, and reads the HTML. */
  capture(url: string, fullPage: boolean): Promise<Uint8Array>;
  close(): Promise<unknown>;
}

/** The export of a driver's module. */
export interface DriverModule {
  open(options: DriverOptions): Promise<Driver>;
}

export const VIEWPORT = { width: 1280, height: 720 } as const;

/** Flags that Chromium needs to start as root, where its sandbox does not work. */
export function sandboxFlags(): readonly string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

/** The methods that browser contexts of Playwright and puppeteer have in common. */
interface Context {
  newPage(): Promise<{
    goto(url: string, options: { readonly waitUntil: 'load'; readonly timeout: number }): Promise<unknown>;
    screenshot(options: { readonly type: 'png'; readonly fullPage: boolean }): Promise<Uint8Array>;
    content(): Promise<string>;
  }>;
  close(): Promise<unknown>;
}

/** Captures a page in a context of its own, at `load`. `settings`: more options of its screenshot. */
export async function captureIn(
  context: Context,
  url: string,
  { fullPage, timeoutMs = 30_000, ...settings }: Pick<DriverOptions, 'fullPage' | 'timeoutMs'>,
): Promise<Uint8Array> {
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'load', timeout: timeoutMs });
    const image = await page.screenshot({ type: 'png', fullPage: fullPage ?? false, ...settings });
    await page.content();
    return image;
  } finally {
    await context.close();
  }
}

/** Runs `capture` for each URL, `concurrency` at a time. Resolves with the number of pages that it did not leave out. */
export async function inFlight(
  urls: readonly string[],
  concurrency: number,
  capture: (url: string) => Promise<boolean>,
): Promise<number> {
  let captured = 0;
  const waiting = urls.values();
  const worker = async () => {
    for (const url of waiting) if (await capture(url)) captured += 1;
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return captured;
}
