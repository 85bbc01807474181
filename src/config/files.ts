import { errorText } from '../capture/basics/error-text.ts';
import { ConfigError } from './config-error.ts';

/** Returns the text of a file. @throws When it cannot be read. */
export type ReadFile = (path: string) => string;

/** @throws ConfigError when the file cannot be read; it names the flag. */
export function readNamedFile(flag: string, path: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    const [reason] = errorText(error).split('\n', 1);
    throw new ConfigError(`${flag} ${path} cannot be read: ${reason}`, { cause: error });
  }
}

/**
 * Returns the secrets in a file: one on each line, at least one.
 * @throws ConfigError
 */
export function readSecrets(flag: string, path: string, readFile: ReadFile): readonly string[] {
  const secrets = linesOf(readNamedFile(flag, path, readFile));
  if (secrets.length > 0) return secrets;
  throw new ConfigError(`${flag} ${path} is not valid; it takes a file with one key on each line`);
}

/**
 * Returns the secret in a file with one line.
 * @throws ConfigError
 */
export function readSecret(flag: string, path: string, readFile: ReadFile): string {
  const [secret, ...others] = linesOf(readNamedFile(flag, path, readFile));
  if (secret !== undefined && others.length === 0) return secret;
  throw new ConfigError(`${flag} ${path} is not valid; it takes a file with one line`);
}

/** Returns the lines of a text, trimmed, without the blank ones. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
