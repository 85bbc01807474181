import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createHttpApp, type HttpOptions } from '../../src/http/app.ts';
import { listen } from '../../src/http/server.ts';
import { type CaptureService, createService, type ServiceConfig } from '../../src/service.ts';

export interface RunningService {
  readonly service: CaptureService;
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly baseUrl: string;
  /** Its files, the database among them; removed when it stops. */
  readonly directory: string;
  stop(): Promise<void>;
}

const logger = pino({ level: 'silent' });

/** The whole service, real to the last part: Chromium, SQLite, HTTP. Of private targets it captures 127.0.0.1 alone. */
export async function startService(
  overrides: Partial<ServiceConfig> = {},
  http: Partial<HttpOptions> = {},
): Promise<RunningService> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-test-'));
  const service = await createService(
    {
      dbPath: join(directory, 'results.db'),
      mongoUrl: null,
      dataDir: join(directory, 'data'),
      retainDays: null,
      retainBytes: null,
      maxConcurrent: 4,
      maxQueue: 1000,
      maxMemoryMb: null,
      // Tests share their machine with others, who may make it slow.
      minFreeMemory: 0,
      maxLoopDelayMs: 600_000,
      allowTargets: ['127.0.0.1'],
      denyTargets: [],
      webhook: [],
      webhookSecret: [],
      allowWebhooks: [],
      browserPath: null,
      sandbox: 'auto',
      retireAfter: 500,
      ipinfo: false,
      ipinfoUrl: 'http://127.0.0.1:9/',
      ipinfoKey: null,
      ipinfoRate: 1000,
      ...overrides,
    },
    logger,
  );
  const options = { apiKeys: [], maxBatch: 1000, defaultTimeoutMs: 20_000, maxTimeoutMs: 30_000, logger, ...http };
  const server = await listen(createHttpApp(service, options), { host: '127.0.0.1', port: 0 });
  return {
    service,
    baseUrl: server.address,
    directory,
    stop: async () => {
      await service.stop();
      await server.close(1000);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
