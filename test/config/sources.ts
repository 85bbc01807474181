import { readFileSync } from 'node:fs';
import type { ConfigSources } from '../../src/config/load.ts';
import { type Config, ConfigError, loadConfig } from '../../src/config/mod.ts';

export interface Given {
  readonly flags?: ConfigSources['flags'];
  readonly env?: ConfigSources['env'];
  /** Files by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads the configuration from only these sources, on a machine with two cores. */
export function load({ flags = {}, env = {}, files = {} }: Given): Config {
  return loadConfig({
    flags,
    env,
    readFile: (path) => files[path] ?? readFileSync(path, 'utf8'),
    machine: { cores: 2 },
  });
}

/** Returns the line with which these sources are rejected. */
export function refusal(given: Given): string {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}
