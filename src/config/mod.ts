import { masked } from './mask.ts';
import { type Config, OPTIONS } from './options.ts';

/*
 * The configuration of the service: the table of options, the sources of their values, and their precedence.
 */

export { ConfigError } from './config-error.ts';
export { configOf, loadConfig } from './load.ts';
export { type Config, OPTIONS } from './options.ts';

/** Returns the configuration with its secrets masked. */
export function printableConfig(config: Config): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = config;
  return Object.fromEntries(OPTIONS.map((option) => [option.name, masked(option, values[option.name])]));
}
export { readReceivers } from './receivers.ts';
export { readRetainDays } from './retain-days.ts';
