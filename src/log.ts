import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.ts';

export type { Logger } from 'pino';

/** Where keys may stand in what is logged: in headers, and in a configuration. */
const SECRET_PATHS = [
  'apiKey',
  'ipinfoKey',
  'webhookSecret',
  'mongoUrl',
  'authorization',
  '["x-api-key"]',
  '["proxy-authorization"]',
];
const PARENTS = ['', 'headers.', 'req.headers.', 'request.headers.', 'config.'];

/**
 * Structured logs on a file descriptor: JSON lines, or readable ones when `readable`. Written at once, so that the last
 * line before a crash is there.
 */
export function createLogger(
  level: Config['logLevel'],
  output: { readonly fd: number; readonly readable: boolean },
): Logger {
  return pino(
    {
      level,
      timestamp: stdTimeFunctions.isoTime,
      base: { pid: process.pid },
      redact: { paths: redactedPaths(), censor: '***' },
    },
    output.readable
      ? pretty({ destination: output.fd, sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid' })
      : destination({ dest: output.fd, sync: true }),
  );
}

function redactedPaths(): string[] {
  return PARENTS.flatMap((parent) =>
    SECRET_PATHS.map((path) => (path.startsWith('[') ? `${parent.replace(/\.$/, '')}${path}` : `${parent}${path}`)),
  );
}
