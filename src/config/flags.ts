import { type Command, Option as Flag } from 'commander';
import { DATABASE_OPTIONS, S3_OPTIONS } from '../capture/artifacts/artifacts.ts';
import { OPTIONS, type Option } from './options.ts';

/** Options that name where a service stores captures and records. */
export const PLACES: readonly string[] = [...Object.values(DATABASE_OPTIONS), 'dataDir', 'artifacts', ...S3_OPTIONS];

/**
 * Adds the flags of options to a command. Their values stay unchecked text: `loadConfig` checks values of every source
 * alike. `names`: only these options, and those that read a secret of them from a file.
 */
export function addConfigFlags(command: Command, names?: readonly string[]): Command {
  const isWanted = (name: string) => names === undefined || names.includes(name) || names.includes(secretOf(name));
  for (const option of OPTIONS.filter(({ name }) => isWanted(name))) {
    for (const flag of flagsOf(option)) command.addOption(flag.helpGroup(`${option.group}:`));
  }
  return command.addOption(
    new Flag('--config <file>', 'A JSON file of options, such as those in config/.').helpGroup('Running:'),
  );
}

/** `mongoUrl` for `mongoUrlFile`. */
function secretOf(name: string): string {
  return name.replace(/File$/, '');
}

function flagsOf(option: Option): readonly Flag[] {
  if (option.kind === 'switch') {
    return [
      new Flag(option.flag, describe(option)),
      new Flag(
        option.flag.replace('--', '--no-'),
        `Turns ${option.flag} off, whatever ${option.variable} or the file says.`,
      ),
    ];
  }
  const flag = new Flag(`${option.flag} <${option.placeholder}>`, describe(option));
  return [option.kind === 'list' ? flag.argParser(collect) : flag];
}

/** Gathers the values of a flag that may be given more than once. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function describe(option: Option): string {
  return `${option.description} Takes ${option.takes}. Default: ${defaultText(option)}. Variable: ${option.variable}.`;
}

/** Returns an option's default for people: `none`, `8080`, `4 per core`. */
export function defaultText(option: Option): string {
  if (option.defaultText !== undefined) return option.defaultText;
  if (option.default === null || typeof option.default === 'function') return 'none';
  return Array.isArray(option.default) ? option.default.join(',') || 'none' : String(option.default);
}
