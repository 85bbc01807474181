import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { errorText } from '../../capture/basics/error-text.ts';
import { CapstanError } from '../../capture/errors.ts';
import { describeOptions, type JsonField, type OptionDescription } from '../../capture/options/describe.ts';
import { isMap, isRepeatable, listItem, optionFromTexts } from '../../capture/options/from-text.ts';
import { OPTION_GROUPS } from '../../capture/options/groups.ts';
import { collect } from '../../config/flags.ts';
import { ConfigError } from '../../config/mod.ts';
import { flagOf } from '../../config/options.ts';
import { decodeText } from '../decode-text.ts';

/** Options without a flag: `cacheMaxAgeMs` needs a database. */
const WITHOUT_FLAG = ['cacheMaxAgeMs'];

const GROUPS = Object.entries(OPTION_GROUPS).map(([group, fields]) => ({
  group,
  options: describeOptions(fields).filter(({ name }) => !WITHOUT_FLAG.includes(name)),
}));
const OPTIONS = GROUPS.flatMap(({ options }) => options);

/** Adds a flag for each capture option. The values of the flags stay text until `readCaptureFlags` reads them. */
export function addCaptureFlags(command: Command): Command {
  for (const { group, options } of GROUPS) {
    for (const option of options) command.addOption(optionFlag(option).helpGroup(`Capture, ${group}:`));
  }
  return command;
}

/** Returns the flag of an option. Its value stays text until `readFlags` reads it. */
export function optionFlag(option: OptionDescription): Option {
  const name = flagOf(option.name);
  const text = `${option.description} ${howTo(option)} Default: ${option.default}.`;
  if (option.field.type === 'boolean') return new Option(name, text);
  const made = new Option(`${name} <value>`, text);
  return isRepeatable(option.field) ? made.argParser(collect) : made;
}

function howTo({ field, takes }: OptionDescription): string {
  if (field.type === 'boolean') return '';
  if (isMap(field)) return 'Takes name=value, JSON, or the name of a .json file; may be given more than once.';
  if (listItem(field) !== undefined) return `May be given more than once; each takes ${oneOf(listItem(field))}.`;
  if (isUnionOfObjects(field)) return 'Takes JSON, or the name of a .json file.';
  return field.type === 'object'
    ? `Takes ${takes}, as name=value,name=value, JSON or the name of a .json file.`
    : `Takes ${takes}.`;
}

/** Whether an option is one of several objects, such as `when` of a watch. */
function isUnionOfObjects({ anyOf }: JsonField): boolean {
  return anyOf?.every(({ type }) => type === 'object') === true;
}

function oneOf(item: JsonField | undefined): string {
  if (item?.enum !== undefined) return `one of ${item.enum.join(', ')}`;
  return item?.type === 'string' ? 'one' : 'name=value,name=value or JSON';
}

/** Returns the capture options from the flags, as a body of `POST /screenshot`. */
export function readCaptureFlags(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return readFlags(OPTIONS, flags);
}

/** Returns the values of the flags of options. */
export function readFlags(
  options: readonly OptionDescription[],
  flags: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    options.flatMap((option) => {
      const given = flags[option.name];
      return given === undefined ? [] : [[option.name, readValue(option, given)]];
    }),
  );
}

/**
 * Returns the error for an invalid value of a flag. `path` is the position of the value in the request, `message` the
 * problem.
 */
export function flagError(path: string, message: string, flags: Readonly<Record<string, unknown>>): ConfigError {
  const [name = ''] = path.split(/[.[]/, 1);
  const option = OPTIONS.find((each) => each.name === name);
  const isWhole = path === name && option !== undefined && message.startsWith('must');
  return new ConfigError(
    isWhole
      ? `${flagOf(name)} takes ${option.takes}, not ${JSON.stringify(flags[name])}`
      : `${flagOf(name)}${path.slice(name.length)} ${message}`,
  );
}

/** The name of a file with an option's JSON. Neither `name=value` nor JSON matches it. */
const JSON_FILE = /^[^={:]+\.json$/;

/** Returns the text of an option, or of the file that holds it. */
function textOf({ name, field }: OptionDescription, text: string): string {
  const isObject = field.type === 'object' || isUnionOfObjects(field);
  if (!isObject || !JSON_FILE.test(text)) return text;
  try {
    return decodeText(readFileSync(text)).trim();
  } catch (error) {
    throw new ConfigError(`${flagOf(name)} takes a JSON file, but ${text} cannot be read: ${errorText(error)}`);
  }
}

function readValue(option: OptionDescription, given: unknown): unknown {
  if (typeof given === 'boolean') return given;
  try {
    return optionFromTexts(
      option,
      [given].flat().map((text) => textOf(option, String(text))),
    );
  } catch (error) {
    const [problem] = error instanceof CapstanError ? error.problems : [];
    throw problem === undefined ? error : new ConfigError(`${flagOf(option.name)} ${problem.message}`);
  }
}
