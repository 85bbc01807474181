import { masked } from './config/mask.ts';
import { type Config, OPTIONS } from './config/options.ts';

/*
 * How the service is told what to do: the table of options, where their values come from, and which of them wins.
 */

export { ConfigError, type ConfigSources, configOf, loadConfig } from './config/load.ts';
export { type Config, OPTIONS, type Option } from './config/options.ts';

/** The configuration as it may be shown to anybody: secrets masked. */
export function printableConfig(config: Config): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = config;
  return Object.fromEntries(OPTIONS.map((option) => [option.name, masked(option, values[option.name])]));
}
