import type { Contender } from './contender.ts';
import { inFlight } from './driver.ts';
import { type ServiceOptions, startServiceProcess } from './service-process.ts';

export interface ServiceContenderOptions extends ServiceOptions {
  /** @default 'capstan (HTTP, SQLite, files)' */
  readonly name?: string;
  /** Capture options of every request. @default none */
  readonly requested?: Readonly<Record<string, unknown>>;
}

/** The files stay in the service, whose disk is read for them. */
const NOTHING_SENT = { image: new Uint8Array(), html: '' };

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
          const { captures } = await inFlight(urls, concurrency, async (url) => {
            const certificate = url.startsWith('https:') && { ignoreCertErrors: true };
            const { status, body } = await service.capture(url, { ...requested, ...certificate });
            if (status !== 200) throw new Error(`capstan answered ${status}: ${body}`);
            return NOTHING_SENT;
          });
          const after = await service.artifactBytes();
          return {
            captures,
            imageBytes: after.images - before.images,
            htmlCharacters: after.htmlCopies - before.htmlCopies,
          };
        },
        stop: () => service.stop(),
      };
    },
  };
}
