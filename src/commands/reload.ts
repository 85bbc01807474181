import { isDeepStrictEqual } from 'node:util';
import { type Config, OPTIONS } from '../config.ts';
import type { Log } from '../log.ts';
import type { CaptureService } from '../service/create-service.ts';

export interface Reload {
  /** Sets the service whose limits are reloaded. Performs a reload that was requested before this call. */
  applyTo(service: Pick<CaptureService, 'reload'>): void;
}

/** Options that take effect while the service runs. The others need a restart. */
const LIVE: readonly string[] = ['maxConcurrent', 'maxQueue'];

/**
 * On SIGHUP, reopens the log file and reads the configuration again, with the same precedence as at the start: flags
 * override files. Sets the limits and logs the names of other changed options. An invalid configuration changes
 * nothing.
 */
export function watchForReload(started: Config, read: () => Config, log: Log): Reload {
  const { logger } = log;
  let service: Pick<CaptureService, 'reload'> | undefined;
  let asked = false;

  const reload = (): void => {
    asked = service === undefined;
    if (service === undefined) return;
    try {
      const config = read();
      service.reload(config);
      const waiting = changed(started, config).filter((name) => !LIVE.includes(name));
      if (waiting.length > 0) logger.warn({ options: waiting }, 'changed options that take effect after a restart');
    } catch (error) {
      logger.error(`SIGHUP changed nothing: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  process.on('SIGHUP', () => {
    log.reopen();
    reload();
  });

  return {
    applyTo: (running) => {
      service = running;
      if (asked) reload();
    },
  };
}

/** Returns names only, because values may be secrets. */
function changed(before: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): readonly string[] {
  return OPTIONS.map(({ name }) => name).filter((name) => !isDeepStrictEqual(before[name], now[name]));
}
