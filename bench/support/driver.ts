/*
 * What is measured: a driver captures pages (a screenshot and the HTML, an isolated context for each). Every driver runs
 * in a process of its own, so that its CPU and memory, its browser's included, can be told from the others'.
 */

export interface DriverOptions {
  /** The Chromium that every driver of a run uses. */
  readonly browserPath: string;
  /** Captures at once that the driver must be able to do; one that fixes it at its launch is opened with it. */
  readonly concurrency: number;
}

export interface Driver {
  /** Captures each URL once, `concurrency` of them at a time. Rejects when any of them fails. */
  run(urls: readonly string[], concurrency: number): Promise<Work>;
  close(): Promise<void>;
}

/** What came of a run: two drivers did the same work when their means agree. */
export interface Work {
  readonly captures: number;
  readonly imageBytes: number;
  readonly htmlCharacters: number;
}

/** What a driver's module exports. */
export interface DriverModule {
  open(options: DriverOptions): Promise<Driver>;
}

export const VIEWPORT = { width: 1280, height: 720 } as const;

/** Small, medium and heavy, in equal parts. */
export const BENCH_PATHS = ['/short', '/medium', '/heavy'] as const;

/** Flags without which Chromium cannot start here: its sandbox needs a user other than root. */
export function sandboxFlags(): readonly string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}

/** Works off `urls`, `concurrency` at a time, and adds up what came of it. */
export async function inFlight(
  urls: readonly string[],
  concurrency: number,
  capture: (url: string) => Promise<{ image: Uint8Array; html: string }>,
): Promise<Work> {
  let captures = 0;
  let imageBytes = 0;
  let htmlCharacters = 0;
  const waiting = urls.values();
  const worker = async () => {
    for (const url of waiting) {
      const { image, html } = await capture(url);
      captures += 1;
      imageBytes += image.byteLength;
      htmlCharacters += html.length;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { captures, imageBytes, htmlCharacters };
}
