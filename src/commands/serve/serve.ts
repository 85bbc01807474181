import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { addConfigFlags } from '../../config/flags.ts';
import { type Config, printableConfig } from '../../config/mod.ts';
import { type Log, type Logger, openLog } from '../../log/log.ts';
import { connectionLimit } from '../../service/operation/connection-limit.ts';
import { packageVersion } from '../../version.ts';
import { ignoreOutputEnd } from '../closed-output.ts';
import { watchForEnd } from '../ending.ts';
import { processConfig } from '../process-config.ts';
import { makeFullCollectionsRare } from './heap-growth.ts';
import { type ConfigSource, watchForReload } from './reload.ts';
import { warnOfReadableSecrets } from './secret-files.ts';

/** Time limit for sending answers to slow clients after the service has stopped, in milliseconds. */
const DRAIN_MS = 1_000;

export function registerServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('Serve the HTTP interface until SIGTERM or SIGINT; a second signal kills the browsers and exits.')
    .option('--print-config', 'Print the effective configuration as JSON, secrets masked, and exit.');
  addConfigFlags(command).action(async (flags: Readonly<Record<string, unknown>>) => {
    const files: string[] = [];
    const config = processConfig(flags, (file) => files.push(file));
    if (flags.printConfig === true) process.stdout.write(`${JSON.stringify(printableConfig(config), null, 2)}\n`);
    else {
      makeFullCollectionsRare();
      await serve(config, { read: () => processConfig(flags), files });
    }
  });
}

/** Serves until a signal stops it. `read` returns the configuration as it is now. */
async function serve(config: Config, source: ConfigSource): Promise<void> {
  const log = await openLog(config);
  try {
    await serveUntilStopped(config, source, log);
    log.logger.info('stopped');
  } finally {
    await log.flush();
  }
}

async function serveUntilStopped(config: Config, source: ConfigSource, log: Log): Promise<void> {
  const { logger } = log;
  logger.info({ version: packageVersion(), node: process.version, config: printableConfig(config) }, 'starting');
  warnOfReadableSecrets(config, logger);
  const ending = watchForEnd(logger);
  const reload = watchForReload(config, source, log);
  const { listen } = await import('../../http/server.ts');

  const opening = config.role === 'worker' ? openWorker(config, log) : openService(config, log);
  const opened = await Promise.race([opening, aborted(ending.signal)]);
  if (opened === undefined) {
    void opening.then(({ service }) => service.stop(0)).catch(() => {});
    return;
  }
  const { service, app, keyRing, close } = opened;
  ending.watchOver(service);
  reload.applyTo(service, keyRing);
  try {
    const server = await listen(app, {
      ...config,
      maxConnections: connectionLimit(config, logger),
    });
    try {
      if (config.apiKey.length === 0 && !isLoopback(server.address)) {
        logger.warn({ address: server.address }, 'every client that can reach this address may capture: set --api-key');
      }
      logger.info({ address: server.address }, 'listening');
      announce(server.address);
      await aborted(ending.signal);
      if (config.drainDelayMs > 0) {
        service.announceStop();
        await delay(config.drainDelayMs);
      }
      await service.stop(config.graceMs);
    } finally {
      // Closed after the service, so that captures under way are answered, and new ones with 503.
      await server.close(DRAIN_MS);
    }
  } finally {
    await service.stop(0);
    await close();
  }
}

/** Opens the service and its HTTP interface: the whole service, or a node of a cluster that answers clients. */
export async function openService(config: Config, log: Log) {
  // Loaded on demand, as all that other commands do not need.
  const [{ createHttpApp }, { KeyRing }, { createService }] = await Promise.all([
    import('../../http/app.ts'),
    import('../../http/keys/key-ring.ts'),
    import('../../service/create-service.ts'),
  ]);
  const tracing = config.otlpUrl === null ? undefined : await openTraces(config.otlpUrl, log.logger);
  const service = await createService(config, log.logger, log);
  tracing?.follow(service.events$);
  const keyRing = new KeyRing(config);
  const app = createHttpApp(service, config, { keyRing, logger: log.logger, tracing });
  return { service, app, keyRing, close: () => tracing?.close() };
}

/** Loads OpenTelemetry on demand. */
async function openTraces(url: string, logger: Logger) {
  const { openTracing } = await import('../../tracing/open-tracing.ts');
  return openTracing(url, (text) => logger.warn(text));
}

/** Opens a worker of a cluster, with its probes and figures. */
async function openWorker(config: Config, log: Log) {
  const [{ createWorkerApp }, { KeyRing }, { createWorker }] = await Promise.all([
    import('../../http/app.ts'),
    import('../../http/keys/key-ring.ts'),
    import('../../service/create-worker.ts'),
  ]);
  const service = await createWorker(config, log.logger, log);
  const keyRing = new KeyRing(config);
  const app = createWorkerApp(service, config, { keyRing, logger: log.logger });
  return { service, app, keyRing, close: () => undefined };
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Prints the ready line. A closed or full standard output does not end the service. */
function announce(address: string): void {
  ignoreOutputEnd();
  process.stdout.write(`capstan listening on ${address}\n`);
}

/** Checks the address listened on, because `--host` may be a name. */
function isLoopback(address: string): boolean {
  return /^(127\.|\[::1\]$|\[::ffff:(127\.|7f))/.test(new URL(address).hostname);
}
