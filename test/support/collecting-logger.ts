import { type Logger, pino } from 'pino';

/** A logger, and the lines that it has logged. */
export function collectingLogger(): { readonly logger: Logger; readonly lines: readonly Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}
