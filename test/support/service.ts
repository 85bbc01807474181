import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { filter, firstValueFrom } from 'rxjs';
import type { CapstanEvent } from '../../src/capture/events.ts';
import type { HttpOptions } from '../../src/http/app.ts';
import { type CaptureService, createService } from '../../src/service/create-service.ts';
import type { ServiceConfig } from '../../src/service/service-config.ts';
import { type RunningApp, serve } from './serve.ts';
import { makeDirectory } from './temporary-directory.ts';

type EventOf<T> = Extract<CapstanEvent, { readonly type: T }>;

export interface RunningService extends Omit<RunningApp, 'close'> {
  readonly service: CaptureService;
  /** Resolves with the next event of a type, for which `holds` returns true. */
  next<T extends CapstanEvent['type']>(type: T, holds?: (event: EventOf<T>) => boolean): Promise<EventOf<T>>;
  /** Directory of its files, including the database; removed when it stops. */
  readonly directory: string;
  /** Puts a directory in the place of the database file, so that the database is down from then on. */
  loseDatabase(): Promise<void>;
  stop(): Promise<void>;
}

/** For a service that captures nothing: no browser is started. */
export const NO_BROWSER = { browserPath: '/nonexistent/chromium' };

/** Everything that a service needs, with its files in this directory. The only private target is 127.0.0.1. */
export function serviceConfig(directory: string): ServiceConfig {
  return {
    dbPath: join(directory, 'results.db'),
    mongoUrl: null,
    dataDir: join(directory, 'data'),
    namedKeys: [],
    artifacts: 'files',
    s3Bucket: null,
    s3Endpoint: null,
    s3Region: 'us-east-1',
    s3Prefix: '',
    s3Addressing: 'auto',
    s3Presign: null,
    s3AccessKey: null,
    s3SecretKey: null,
    requireStore: false,
    retainDays: [],
    retainBytes: null,
    thumbnailBytes: null,
    indexWords: false,
    maxConcurrent: 4,
    maxQueue: 1000,
    maxBatchConcurrency: null,
    maxDials: 256,
    maxMemoryMb: null,
    // Generous, because tests may run on a slow, shared machine.
    minFreeMemory: 0,
    maxLoopDelayMs: 600_000,
    allowTargets: ['127.0.0.1'],
    denyTargets: [],
    nameServers: [],
    technologyRules: null,
    webhook: [],
    notify: [],
    alert: [],
    publicUrl: null,
    apiKey: [],
    isolateKeys: false,
    signingKey: [],
    maxShareDays: 30,
    webhookSecret: [],
    allowWebhooks: [],
    browserPath: null,
    sandbox: 'auto',
    browserPriority: 'low',
    honestUserAgent: false,
    retireAfter: 500,
    ipinfo: false,
    ipinfoUrl: 'http://127.0.0.1:9/',
    ipinfoKey: null,
    ipinfoRate: 1000,
    natsUrl: [],
    natsCreds: null,
    natsTlsCa: null,
    natsTlsCert: null,
    natsTlsKey: null,
    clusterName: 'capstan',
    role: 'all',
    clusterMaxConcurrent: 1000,
    maxWaitMs: 120_000,
  };
}

/**
 * Starts the complete service with real parts: Chromium, SQLite, HTTP. The only private target that it captures is
 * 127.0.0.1.
 */
export async function startService(
  overrides: Partial<ServiceConfig> = {},
  http: Partial<HttpOptions> = {},
  logger: Logger = pino({ level: 'silent' }),
): Promise<RunningService> {
  const directory = await makeDirectory();
  const service = await createService({ ...serviceConfig(directory), ...overrides }, logger);
  await service.started;
  const { close, ...app } = await serve(service, http);
  return {
    ...app,
    service,
    next: <T extends CapstanEvent['type']>(type: T, holds: (event: EventOf<T>) => boolean = () => true) => {
      const isOfType = (event: CapstanEvent): event is EventOf<T> => event.type === type;
      return firstValueFrom(service.events$.pipe(filter(isOfType), filter(holds)));
    },
    directory,
    loseDatabase: async () => {
      const file = join(directory, 'results.db');
      await Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${file}${suffix}`, { force: true })));
      await mkdir(file);
      await service.results.get(1).catch(() => undefined);
    },
    stop: async () => {
      await service.stop();
      await close(1000);
    },
  };
}
