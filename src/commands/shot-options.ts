import { type Command, Option } from 'commander';
import { describeOptions, type JsonField, type OptionDescription } from '../capture/options/describe.ts';
import { OPTION_GROUPS } from '../capture/options/groups.ts';
import { flagOf } from '../config/options.ts';
import { ConfigError } from '../config.ts';

/** Options without a flag: `cacheMaxAgeMs` needs a database. */
const WITHOUT_FLAG = ['cacheMaxAgeMs'];

const GROUPS = Object.entries(OPTION_GROUPS).map(([group, fields]) => ({
  group,
  options: describeOptions(fields).filter(({ name }) => !WITHOUT_FLAG.includes(name)),
}));
const OPTIONS = GROUPS.flatMap(({ options }) => options);

/** Adds a flag for each capture option. Values are texts until `readCaptureFlags`. */
export function addCaptureFlags(command: Command): Command {
  for (const { group, options } of GROUPS) {
    for (const option of options) command.addOption(flag(option).helpGroup(`Capture, ${group}:`));
  }
  return command;
}

function flag(option: OptionDescription): Option {
  const name = flagOf(option.name);
  const text = `${option.description} ${howTo(option)} Default: ${option.default}.`;
  if (option.field.type === 'boolean') return new Option(name, text);
  const made = new Option(`${name} <value>`, text);
  return isRepeatable(option.field)
    ? made.argParser((value, before: readonly string[] = []) => [...before, value])
    : made;
}

function howTo({ field, takes }: OptionDescription): string {
  if (field.type === 'boolean') return '';
  if (isMap(field)) return 'Takes name=value, or JSON; may be given more than once.';
  if (listItem(field) !== undefined) return `May be given more than once; each takes ${oneOf(listItem(field))}.`;
  return field.type === 'object' ? `Takes ${takes}, as name=value,name=value or JSON.` : `Takes ${takes}.`;
}

function oneOf(item: JsonField | undefined): string {
  if (item?.enum !== undefined) return `one of ${item.enum.join(', ')}`;
  return item?.type === 'string' ? 'one' : 'name=value,name=value or JSON';
}

/** Returns the capture options from the flags, as a body of `POST /screenshot`. */
export function readCaptureFlags(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    OPTIONS.flatMap((option) => {
      const given = flags[option.name];
      return given === undefined ? [] : [[option.name, readValue(option, given)]];
    }),
  );
}

/** Returns the error for an invalid value of a flag. `path` is its place in the request, `message` the problem. */
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

function readValue({ name, field }: OptionDescription, given: unknown): unknown {
  if (typeof given === 'boolean') return given;
  const texts: readonly string[] = Array.isArray(given) ? given.map(String) : [String(given)];
  if (isMap(field)) return Object.assign({}, ...texts.map((text) => objectOf(name, field, text)));
  const item = listItem(field);
  if (item === undefined) return scalarOrObject(name, field, texts[0] ?? '');
  // `evidence` also accepts "all".
  if (field.anyOf?.some((choice) => choice.const === texts[0]) === true) return texts[0];
  return texts.flatMap((text) => (text.startsWith('[') ? parseJson(name, text) : [scalarOrObject(name, item, text)]));
}

function scalarOrObject(name: string, field: JsonField, text: string): unknown {
  if (field.type === 'integer' || field.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (field.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return field.type === 'string' || field.enum !== undefined ? text : objectOf(name, field, text);
}

/**
 * Reads JSON or `name=value,name=value`. A map takes one `name=value` or `name: value`, whose value may contain commas.
 */
function objectOf(name: string, field: JsonField, text: string): object {
  if (text.startsWith('{')) return Object(parseJson(name, text));
  const parts = isMap(field) ? [text] : text.split(',');
  return Object.fromEntries(
    parts.map((pair) => {
      const [, key = '', value] = /^\s*([^=:]+?)\s*[=:]\s*(.*)$/s.exec(pair) ?? [];
      if (value === undefined)
        throw new ConfigError(`${flagOf(name)} takes name=value or JSON, not ${JSON.stringify(text)}`);
      const part = field.properties?.[key];
      return [key, part === undefined ? value : scalarOrObject(name, part, value)];
    }),
  );
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(
      `${flagOf(name)} takes JSON, and ${JSON.stringify(text)} is not valid JSON: ${String(error)}`,
    );
  }
}

function isMap({ type, properties }: JsonField): boolean {
  return type === 'object' && properties === undefined;
}

function isRepeatable(field: JsonField): boolean {
  return isMap(field) || listItem(field) !== undefined;
}

function listItem(field: JsonField): JsonField | undefined {
  return field.items ?? field.anyOf?.find(({ items }) => items !== undefined)?.items;
}
