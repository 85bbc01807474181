import { pino } from 'pino';
import { configOf } from '../../src/config/mod.ts';
import type { HttpConfig } from '../../src/config/slices.ts';
import { createHttpApp, type HttpParts } from '../../src/http/app.ts';
import { KeyRing } from '../../src/http/keys/key-ring.ts';
import { type ListenOptions, listen } from '../../src/http/server.ts';
import type { CaptureService } from '../../src/service/create-service.ts';

export interface RunningApp {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly baseUrl: string;
  /** Calls `fetch` for a path of this server. */
  call(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Grace period for requests in progress, in milliseconds. @default 0 */
  close(graceMs?: number): Promise<void>;
}

/** Options and parts in place of those that `serve` gives the HTTP application. */
export type HttpOverrides = Partial<HttpConfig & HttpParts>;

const DEFAULTS: HttpConfig = { ...configOf({}, { cores: 1 }), maxBatch: 10, maxTimeoutMs: 30_000 };

/** Serves a service over HTTP, by default on a free port of 127.0.0.1. */
export async function serve(
  service: CaptureService,
  options: HttpOverrides = {},
  listening: Partial<ListenOptions> = {},
): Promise<RunningApp> {
  const config = { ...DEFAULTS, ...options };
  const app = createHttpApp(service, config, {
    keyRing: new KeyRing(config),
    logger: pino({ level: 'silent' }),
    ...options,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, ...listening });
  const call = (path: string, init?: RequestInit) => fetch(server.address + path, init);
  return {
    baseUrl: server.address,
    call,
    post: (path, body, init = {}) =>
      call(path, {
        ...init,
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...init.headers },
        body: JSON.stringify(body),
      }),
    close: (graceMs = 0) => server.close(graceMs),
  };
}
