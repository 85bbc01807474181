/*
 * A driver captures pages (a screenshot and the HTML, with an isolated context for each). Every driver runs in a
 * process of its own, so that its CPU time and memory, including its browser's, can be measured separately.
 */

export interface DriverOptions {
  /** Path of the Chromium that all drivers of a run use. */
  readonly browserPath: string;
  /** Maximum number of concurrent captures, for drivers that fix it at launch. */
  readonly concurrency: number;
  /** Captures full pages, for drivers that can. @default false */
  readonly fullPage?: boolean;
  /**
   * Time limit for a page, in milliseconds, after which it is left out. @default A page that does not load is an error.
   */
  readonly timeoutMs?: number | undefined;
}

export interface Driver {
  /** Captures each URL once, `concurrency` at a time. Rejects when a capture fails. */
  run(urls: readonly string[], concurrency: number): Promise<Work>;
  close(): Promise<void>;
}

/** Means of a run: two drivers did the same work when theirs agree. */
export interface Work {
  readonly captures: number;
  readonly imageBytes: number;
  readonly htmlCharacters: number;
}

/** The export of a driver's module. */
export interface DriverModule {
  open(options: DriverOptions): Promise<Driver>;
}

export const VIEWPORT = { width: 1280, height: 720 } as const;

/** Small, medium and heavy pages, in equal parts. */
export const BENCH_PATHS = ['/short', '/medium', '/heavy'] as const;

/** Flags that Chromium needs to start as root, where its sandbox does not work. */
export function sandboxFlags(): readonly string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

/** Captures `urls`, `concurrency` at a time, and adds up the results. */
export async function inFlight(
  urls: readonly string[],
  concurrency: number,
  capture: (url: string) => Promise<{ image: Uint8Array; html: string } | undefined>,
): Promise<Work> {
  let captures = 0;
  let imageBytes = 0;
  let htmlCharacters = 0;
  const waiting = urls.values();
  const worker = async () => {
    for (const url of waiting) {
      const captured = await capture(url);
      if (captured === undefined) continue;
      captures += 1;
      imageBytes += captured.image.byteLength;
      htmlCharacters += captured.html.length;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { captures, imageBytes, htmlCharacters };
}
