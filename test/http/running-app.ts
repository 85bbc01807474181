import { createHash } from 'node:crypto';
import { type Logger, pino } from 'pino';
import { expect } from 'vitest';
import { z } from 'zod';
import { UNSEEN } from '../../src/capture-result.ts';
import type { Result, ScreenshotInfo } from '../../src/domain.ts';
import { createHttpApp, type HttpOptions } from '../../src/http/app.ts';
import { listen } from '../../src/http/server.ts';
import type { CaptureService } from '../../src/service.ts';

export interface RunningApp {
  readonly baseUrl: string;
  /** `fetch` of a path of it. */
  call(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

/** For a service that captures nothing: no browser is started. */
export const NO_BROWSER = { browserPath: '/nonexistent/chromium' };

/** The HTTP layer over a service, on a port of its own, or on one that was its before. */
export async function serve(
  service: CaptureService,
  options: Partial<HttpOptions> = {},
  port = 0,
): Promise<RunningApp> {
  const app = createHttpApp(service, {
    apiKeys: [],
    maxBatch: 10,
    defaultTimeoutMs: 20_000,
    maxTimeoutMs: 30_000,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  const server = await listen(app, { host: '127.0.0.1', port });
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
    close: () => server.close(0),
  };
}

/** An expectation that comes true some time, for what has no event to wait for. A busy machine takes its time. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 20, timeout: 20_000 });
}

/** A logger, and what it has logged. */
export function collectingLogger(): { readonly logger: Logger; readonly lines: readonly Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

/** A capture as it would be stored: `id` seconds after an instant of this century. */
export function resultOf(id: number, overrides: Partial<Result> = {}): Result {
  const url = overrides.url ?? 'https://example.com/';
  const { protocol, hostname } = new URL(url);
  return {
    ...UNSEEN,
    options_digest: '',
    id,
    url,
    final_url: url,
    scheme: protocol.slice(0, -1),
    host: hostname,
    port: 443,
    title: 'Example',
    response_code: 200,
    response_reason: 'OK',
    content_type: 'text/html',
    content_length: 5,
    probed_at: new Date(1_800_000_000_000 + id * 1000).toISOString(),
    duration_ms: 12,
    screenshot: `/screenshot/${id}`,
    html: `/screenshot/${id}?view=html`,
    format: 'png',
    width: 8,
    height: 8,
    ...overrides,
  };
}

export interface KeptCapture {
  readonly result: Result;
  readonly info: ScreenshotInfo;
  readonly image: Buffer;
  readonly html: string;
}

/** Files of a capture as the service keeps them. The bytes are no picture, which HTTP does not care about. */
export async function keepCapture(
  service: CaptureService,
  id: number,
  overrides: Partial<Result> = {},
): Promise<KeptCapture> {
  const result = resultOf(id, overrides);
  const image = Buffer.concat([Buffer.from('picture'), createHash('sha512').update(String(id)).digest()]);
  const html = `<!doctype html><title>${id}</title><script>alert(1)</script><p>Grüße`;
  const info = await service.artifacts.put(result, image, html);
  return { result, info, image, html };
}

/** The address of the next page, out of `Link: <...>; rel="next"`. */
export function nextPage(response: Response): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
}

const Failure = z.object({
  error: z.string(),
  code: z.string(),
  data: z.object({ problems: z.array(z.object({ path: z.string() })).optional() }).optional(),
});
const Listed = z.array(z.object({ id: z.number() }));

export async function failureOf(response: Response): Promise<z.output<typeof Failure>> {
  return Failure.parse(await response.json());
}

/** The ids in a bare array, or in that of an envelope. */
export async function idsOf(response: Response): Promise<readonly number[]> {
  const list = z.union([Listed, z.object({ success: z.literal(true), data: Listed }).transform(({ data }) => data)]);
  return list.parse(await response.json()).map(({ id }) => id);
}
