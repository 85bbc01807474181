import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError, type ConfigSources, loadConfig } from '../../src/config.ts';

export const DEFAULTS_FILE = join(import.meta.dirname, '../../config/default.json');

export interface Given {
  readonly flags?: ConfigSources['flags'];
  readonly env?: ConfigSources['env'];
  /** Files that exist besides the file of defaults, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads from these sources alone, on a machine of two cores. */
export function load({ flags = {}, env = {}, files = {} }: Given): Config {
  return loadConfig({
    flags,
    env,
    readFile: (path) => files[path] ?? readFileSync(path, 'utf8'),
    defaultsFile: DEFAULTS_FILE,
    machine: { cores: 2 },
  });
}

/** The one line with which these sources are refused. */
export function refusal(given: Given): string {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}
