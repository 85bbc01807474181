import { type Command, Option as Flag } from 'commander';
import { OPTIONS, type Option } from './options.ts';

/**
 * Puts the table's options on a command, as text that is not yet checked: `loadConfig` checks it, whatever its source,
 * and so every refusal reads the same. `names`: only these.
 */
export function addConfigFlags(command: Command, names?: readonly string[]): Command {
  for (const option of OPTIONS.filter(({ name }) => names === undefined || names.includes(name))) {
    for (const flag of flagsOf(option)) command.addOption(flag.helpGroup(`${option.group}:`));
  }
  return command.addOption(
    new Flag('--config <file>', 'A JSON file of options; its keys beat those of config/default.json.').helpGroup(
      'Running:',
    ),
  );
}

function flagsOf(option: Option): readonly Flag[] {
  if (option.kind === 'switch') {
    return [
      new Flag(option.flag, describe(option)),
      new Flag(option.flag.replace('--', '--no-'), `Not that, whatever ${option.variable} or the file says.`),
    ];
  }
  const flag = new Flag(`${option.flag} <${option.placeholder}>`, describe(option));
  return [option.kind === 'list' ? flag.argParser(collect) : flag];
}

function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function describe(option: Option): string {
  return `${option.description} Takes ${option.takes}. Default: ${defaultText(option)}. Variable: ${option.variable}.`;
}

/** The default for people: `none`, `8080`, `four a core`. */
export function defaultText(option: Option): string {
  if (option.defaultText !== undefined) return option.defaultText;
  if (option.default === null || typeof option.default === 'function') return 'none';
  return Array.isArray(option.default) ? option.default.join(',') || 'none' : String(option.default);
}

/** The README's table of options, in Markdown. */
export function optionsTable(): string {
  const rows = OPTIONS.map((option) =>
    [
      option.kind === 'switch' ? `\`${option.flag}\`` : `\`${option.flag} <${option.placeholder}>\``,
      defaultText(option),
      `${option.description} Takes ${option.takes}.`,
    ]
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | '),
  );
  return ['| option | default | meaning |', '|---|---|---|', ...rows.map((row) => `| ${row} |`)].join('\n');
}
