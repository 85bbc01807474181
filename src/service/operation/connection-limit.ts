import type { Config } from '../../config/mod.ts';
import type { Logger } from '../../log/log.ts';
import { connectionsWithin, descriptorLimit } from '../../pressure/descriptors.ts';

/**
 * Returns `--max-connections`, or fewer when the process may not open enough file descriptors for them and for
 * captures.
 */
export function connectionLimit(
  { maxConnections: wanted, maxConcurrent }: Pick<Config, 'maxConnections' | 'maxConcurrent'>,
  logger: Logger,
): number {
  const limit = descriptorLimit();
  const possible = connectionsWithin(limit, wanted, maxConcurrent);
  if (possible < wanted) {
    logger.warn(
      { max_connections: possible, file_descriptors: limit },
      'fewer connections than --max-connections are accepted: raise the hard limit of open files (ulimit -Hn)',
    );
  }
  return possible;
}
