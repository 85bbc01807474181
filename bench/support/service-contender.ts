import type { Contender } from './contender.ts';
import type { Work } from './driver.ts';
import { type ServiceOptions, startServiceProcess } from './service-process.ts';

export interface ServiceContenderOptions extends ServiceOptions {
  /** @default 'capstan (HTTP, SQLite, files)' */
  readonly name?: string;
  /** Capture options of every request. @default none */
  readonly requested?: Readonly<Record<string, unknown>>;
}

/** The whole service as a user starts it, sent one HTTP request per capture. */
export function serviceContender({
  name = 'capstan (HTTP, SQLite, files)',
  requested,
  ...options
}: ServiceContenderOptions): Contender {
  return {
    name,
    async start() {
      const service = await startServiceProcess(options);
      return {
        pid: service.pid,
        async run(urls, concurrency) {
          const before = await service.artifactBytes();
          await captureAll(service.capture, urls, concurrency, requested);
          const after = await service.artifactBytes();
          return {
            captures: urls.length,
            imageBytes: after.images - before.images,
            htmlCharacters: after.htmlCopies - before.htmlCopies,
          } satisfies Work;
        },
        stop: () => service.stop(),
      };
    },
  };
}

/** Captures `urls`, `concurrency` at a time. */
async function captureAll(
  capture: (url: string, options: Readonly<Record<string, unknown>>) => Promise<{ status: number; body: string }>,
  urls: readonly string[],
  concurrency: number,
  options: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const waiting = urls.values();
  const worker = async () => {
    for (const url of waiting) {
      const { status, body } = await capture(url, {
        ...options,
        ...(url.startsWith('https:') && { ignoreCertErrors: true }),
      });
      if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
