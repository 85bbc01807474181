import { isDeepStrictEqual } from 'node:util';
import { type Config, OPTIONS } from '../config.ts';
import type { Log } from '../log.ts';
import type { CaptureService } from '../service/create-service.ts';

export interface Reload {
  /** From now on, and for what was asked before, this is the service whose limits are set. */
  applyTo(service: CaptureService): void;
}

/** What takes effect while the service runs; the rest of the configuration is read when it starts. */
const LIVE: readonly string[] = ['maxConcurrent', 'maxQueue'];

/**
 * On SIGHUP, opens the log file anew and reads the configuration again, with the precedence of the start: a flag still
 * beats the file. Sets the limits, names the other options that changed, and changes nothing when the configuration is
 * not valid.
 */
export function watchForReload(started: Config, read: () => Config, log: Log): Reload {
  const { logger } = log;
  let service: CaptureService | undefined;
  let asked = false;

  const reload = (): void => {
    asked = service === undefined;
    if (service === undefined) return;
    try {
      const config = read();
      service.setLimits(config);
      const waiting = changed(started, config).filter((name) => !LIVE.includes(name));
      if (waiting.length > 0) logger.warn({ options: waiting }, 'changed in the configuration, and needs a restart');
    } catch (error) {
      logger.error(`SIGHUP has changed nothing: ${error instanceof Error ? error.message : String(error)}`);
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

/** Names alone: a value may be a secret. */
function changed(before: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): readonly string[] {
  return OPTIONS.map(({ name }) => name).filter((name) => !isDeepStrictEqual(before[name], now[name]));
}
