import { pino } from 'pino';
import { createHttpApp, type HttpOptions } from '../../src/http/app.ts';
import { listen, type ServerTimeouts } from '../../src/http/server.ts';
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

/** Serves a service over HTTP, on a free port or on the given one. */
export async function serve(
  service: CaptureService,
  options: Partial<HttpOptions> = {},
  port = 0,
  timeouts: Partial<ServerTimeouts> = {},
): Promise<RunningApp> {
  const app = createHttpApp(service, {
    apiKeys: [],
    maxBatch: 10,
    defaultTimeoutMs: 30_000,
    maxTimeoutMs: 30_000,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  const server = await listen(app, { host: '127.0.0.1', port, timeouts });
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
