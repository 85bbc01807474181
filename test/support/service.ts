import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { filter, firstValueFrom } from 'rxjs';
import type { CapstanEvent } from '../../src/capture/events.ts';
import { configOf } from '../../src/config/mod.ts';
import type { ServiceConfig } from '../../src/config/slices.ts';
import { type CaptureService, createService } from '../../src/service/create-service.ts';
import { type HttpOverrides, type RunningApp, serve } from './serve.ts';
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
    ...configOf({}, { cores: 1 }),
    dbPath: join(directory, 'results.db'),
    dataDir: join(directory, 'data'),
    maxConcurrent: 4,
    // Generous, because tests may run on a slow, shared machine.
    minFreeMemory: 0,
    maxLoopDelayMs: 600_000,
    allowTargets: ['127.0.0.1'],
    ipinfoUrl: 'http://127.0.0.1:9/',
    ipinfoRate: 1000,
  };
}

/**
 * Starts the complete service with real parts: Chromium, SQLite, HTTP. The only private target that it captures is
 * 127.0.0.1.
 */
export async function startService(
  overrides: Partial<ServiceConfig> = {},
  http: HttpOverrides = {},
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
