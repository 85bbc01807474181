import { type Logger, pino, stdTimeFunctions } from 'pino';
import { masked } from '../config/mask.ts';
import { type Config, ConfigError, OPTIONS } from '../config/mod.ts';
import { LineWriter } from './line-writer.ts';
import { printable } from './printable.ts';

export type { Logger } from 'pino';

/** Headers that contain a key, a password or a session. */
const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'x-api-key', 'cookie', 'set-cookie'];
const SECRET_OPTIONS = OPTIONS.filter(({ secret }) => secret !== undefined);
/** Objects of a log line whose headers and options are masked, besides those of the line itself. */
const HEADER_PARENTS = ['headers', 'req.headers', 'request.headers'];
const OPTION_PARENTS = ['config'];
const FLUSH_MS = 1_000;

/** The log of a process. */
export interface Log {
  readonly logger: Logger;
  /** Lines dropped since the start because they could not be written. */
  readonly droppedLines: number;
  /** Reopens `--log-file`. A failure is logged, and lines still go to the old file. */
  reopen(): void;
  /** Resolves when every line is written, or after one second. */
  flush(): Promise<void>;
}

/**
 * Opens the log: JSON lines in `--log-file` or on standard error, readable lines on a terminal. Lines are written in
 * the background, so that a log that cannot be written never stops the service.
 * Rejects with a ConfigError when the file cannot be opened.
 */
export async function openLog(config: Pick<Config, 'logLevel' | 'logFile'>): Promise<Log> {
  const { logLevel, logFile } = config;
  // Reading `process.stderr` also makes a pipe non-blocking, so that no thread waits in a write to it.
  const { fd, isTTY } = process.stderr;
  const writer = openWriter(logFile ?? fd, (lines, cause) =>
    logger.warn({ dropped: lines, cause }, 'log lines were dropped: the log could not be written'),
  );
  const logger = await createLogger(logLevel, writer, logFile === null && isTTY === true);
  return {
    logger,
    get droppedLines() {
      return writer.dropped;
    },
    reopen: () => {
      try {
        writer.reopen();
      } catch (error) {
        logger.error({ err: error }, 'the log file could not be reopened: lines still go to the old file');
      }
    },
    flush: () => writer.flush(FLUSH_MS),
  };
}

/** Creates a logger that writes JSON lines or readable ones, with every secret masked. */
export async function createLogger(
  level: Config['logLevel'],
  writer: Pick<LineWriter, 'write' | 'flushSync'>,
  readable = false,
): Promise<Logger> {
  const prettify = readable ? await createPrettify() : (line: string) => line;
  const destination = { write: (line: string) => writer.write(prettify(line)), flushSync: () => writer.flushSync() };
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      redact: { paths: secretPaths(), censor: mask },
    },
    destination,
  );
}

/** Loads the package for a terminal only: its 29 files take 30 ms of each start. */
async function createPrettify(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid' });
  return (line) =>
    pretty(JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? printable(value) : value)));
}

function openWriter(to: number | string, onRecovered: (lines: number, cause: string) => void): LineWriter {
  try {
    return new LineWriter({ to, onRecovered: ({ lines, cause }) => onRecovered(lines, cause) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`--log-file ${to} cannot be opened: ${reason}`, { cause: error });
  }
}

function secretPaths(): string[] {
  const headers = SECRET_HEADERS.map((name) => `["${name}"]`);
  const options = SECRET_OPTIONS.map(({ name }) => name);
  return [
    ...headers,
    ...options,
    ...HEADER_PARENTS.flatMap((parent) => headers.map((path) => `${parent}${path}`)),
    ...OPTION_PARENTS.flatMap((parent) => options.map((path) => `${parent}.${path}`)),
  ];
}

/** Masks the whole value of a header; masks an option as `--print-config` does. */
function mask(value: unknown, path: readonly string[]): unknown {
  const option = SECRET_OPTIONS.find(({ name }) => name === path.at(-1));
  return masked(option ?? { secret: 'whole' }, value);
}
