import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../config/mod.ts';
import { openLog } from '../log/log.ts';
import { watchForEnd } from './ending.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A service that a command uses over HTTP. */
export interface Server {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** A function that uses a service. `signal`: aborted by Ctrl-C. */
export type UseServer = (server: Server, signal: AbortSignal) => Promise<void>;

/** Starts a service that nobody else can use, and stops it when it is no longer used. */
export async function withOwnService(config: Config, use: UseServer): Promise<void> {
  const log = await openLog(config);
  try {
    const ending = watchForEnd(log.logger);
    const [{ listen }, { openService }] = await Promise.all([import('../http/server.ts'), import('./serve/serve.ts')]);
    const apiKey = randomBytes(24).toString('base64url');
    const ownConfig = { ...config, host: '127.0.0.1', port: 0, apiKey: [apiKey], namedKeys: [], isolateKeys: false };
    const opened = await openService(ownConfig, log);
    ending.watchOver(opened.service);
    try {
      const server = await listen(opened.app, ownConfig);
      try {
        await use({ url: server.address, apiKey }, ending.signal);
        await opened.service.stop(0);
      } finally {
        await server.close(0);
      }
    } finally {
      await opened.service.stop(0);
      await opened.close();
    }
  } finally {
    await log.flush();
  }
}

/** Uses the service at `--server`, or one of this process. `place`: where that keeps captures; by default nowhere. */
export async function withServer(
  server: Server | undefined,
  config: Config,
  use: UseServer,
  place?: Pick<Config, 'dbPath' | 'dataDir'>,
): Promise<void> {
  if (server === undefined) {
    await withOwnService(place === undefined ? temporary(config) : keptIn(config, place), use);
    return;
  }
  const log = await openLog(config);
  try {
    await use(server, watchForEnd(log.logger).signal);
  } finally {
    await log.flush();
  }
}

/** Configuration of a service whose files are removed at the end of the process. */
export function temporary(config: Config): Config {
  const dataDir = temporaryDirectory();
  return keptIn(config, { dbPath: join(dataDir, 'results.db'), dataDir });
}

/** Configuration of a service of one command, with its files at a place. */
function keptIn(config: Config, place: Pick<Config, 'dbPath' | 'dataDir'>): Config {
  return {
    ...config,
    webhook: [],
    notify: [],
    alert: [],
    ...place,
    mongoUrl: null,
    natsUrl: [],
    role: 'all',
    artifacts: 'files',
    requireStore: false,
    retainDays: [],
    retainBytes: null,
  };
}
