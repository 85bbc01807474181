import { statSync, watchFile } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '../../capture/basics/error-text.ts';
import { type Config, OPTIONS } from '../../config/mod.ts';
import type { KeyRing } from '../../http/keys/key-ring.ts';
import type { Log } from '../../log/log.ts';
import type { CaptureService } from '../../service/create-service.ts';

/** The configuration of a process, which may be read again. */
export interface ConfigSource {
  read(): Config;
  /** The files that were read at the start. */
  readonly files: readonly string[];
}

/** Options that take effect while the service runs. The others need a restart. */
const LIVE: readonly string[] = [
  ...['maxConcurrent', 'maxQueue', 'maxDials', 'allowTargets', 'denyTargets', 'allowWebhooks'],
  ...['apiKey', 'webhookSecret', 'logLevel'],
];
/** Lists that say by being empty that something is off, which is decided at the start. */
const SWITCHES = ['apiKey', 'webhookSecret'] as const;
/** Interval at which the files are looked at, in milliseconds. */
const WATCH_MS = 1_000;

/**
 * Reads the configuration again on SIGHUP, which also reopens the log file, and when one of its files has changed, with
 * the same precedence as at the start: flags override files. Applies the live options and logs the names of other
 * changed ones. An invalid configuration changes nothing.
 */
export function watchForReload(started: Config, source: ConfigSource, log: Log) {
  const { logger } = log;
  let apply: ((config: Config) => void) | undefined;
  let asked = false;

  const reload = (why: string): void => {
    asked = apply === undefined;
    if (apply === undefined) return;
    try {
      const config = source.read();
      apply(config);
      logger.level = config.logLevel;
      const waiting = changed(started, config).filter(
        (name) => !isLive(name, started, config) && !isClusterLimit(name, started),
      );
      if (waiting.length > 0) logger.warn({ options: waiting }, 'changed options that take effect after a restart');
    } catch (error) {
      logger.error(`${why} changed nothing: ${errorText(error)}`);
    }
  };
  // Looks at the files, not for changes of their directories: Kubernetes replaces a link above them. A pipe of the
  // shell, `<(...)`, cannot be read again.
  for (const file of source.files.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())) {
    watchFile(file, { interval: WATCH_MS, persistent: false }, () => reload(`a change of ${file}`));
  }
  process.on('SIGHUP', () => {
    log.reopen();
    reload('SIGHUP');
  });

  return {
    /** Sets what a reload applies to. Performs a reload that was requested before this call. */
    applyTo: (service: Pick<CaptureService, 'reload'>, keys: Pick<KeyRing, 'replace'>) => {
      apply = (config) => {
        service.reload(config);
        keys.replace(config);
      };
      if (asked) reload('SIGHUP');
    },
  };
}

/** Whether an option is a limit of the cluster, which `PATCH /limits` changes, and no restart of a node. */
function isClusterLimit(name: string, { natsUrl, role }: Config): boolean {
  if (natsUrl.length === 0) return false;
  return name === 'maxQueue' || name === 'clusterMaxConcurrent' || (name === 'maxConcurrent' && role === 'api');
}

function isLive(name: string, started: Config, now: Config): boolean {
  if (SWITCHES.some((list) => list === name && (started[list].length === 0) !== (now[list].length === 0))) return false;
  return LIVE.includes(name);
}

/** Returns names only, because values may be secrets. */
function changed(before: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): readonly string[] {
  return OPTIONS.map(({ name }) => name).filter((name) => !isDeepStrictEqual(before[name], now[name]));
}
