import { inFlight } from './driver.ts';
import type { Contender } from './rounds.ts';
import { type ServiceOptions, startServiceProcess } from './service-process.ts';

export interface ServiceContenderOptions extends ServiceOptions {
  /** @default 'capstan (HTTP, SQLite, files)' */
  readonly name?: string;
  /** Capture options of every request. @default none */
  readonly requested?: Readonly<Record<string, unknown>>;
}

/** The whole service as a user starts it, sent one HTTP request per capture. */
export function serviceContender({ name, requested, ...options }: ServiceContenderOptions): Contender {
  return {
    name: name ?? 'capstan (HTTP, SQLite, files)',
    async start() {
      const service = await startServiceProcess(options);
      const capture = async (url: string): Promise<true> => {
        const certificate = url.startsWith('https:') && { ignoreCertErrors: true };
        await service.capture(url, { ...requested, ...certificate });
        return true;
      };
      return {
        pid: service.pid,
        run: (urls, concurrency) => inFlight(urls, concurrency, capture),
        [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
      };
    },
  };
}
