import { statSync } from 'node:fs';
import { type Config, OPTIONS } from '../../config/mod.ts';
import type { Logger } from '../../log/log.ts';

/** Permission bits of users who are neither the owner nor in the file's group. */
const OTHERS = 0o007;

/** Warns of each file of secrets that every user of the machine can read. */
export function warnOfReadableSecrets(config: Config, logger: Pick<Logger, 'warn'>): void {
  if (process.platform === 'win32') return;
  for (const [name, path] of Object.entries(config)) {
    if (!name.endsWith('File') || typeof path !== 'string') continue;
    const isSecret = OPTIONS.some((option) => option.secret !== undefined && `${option.name}File` === name);
    const mode = isSecret ? modeOf(path) : 0;
    if ((mode & OTHERS) === 0) continue;
    logger.warn(
      { file: path, mode: mode.toString(8).padStart(4, '0') },
      'every user of this machine can read this file of secrets: set its mode to 0600 or 0640',
    );
  }
}

function modeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  // A pipe of the shell, `<(...)`, has no lasting mode.
  return found?.isFile() === true ? found.mode & 0o777 : 0;
}
