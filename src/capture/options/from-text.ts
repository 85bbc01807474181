import { refusal } from '../validate.ts';
import type { JsonField, OptionDescription } from './describe.ts';

/*
 * Reads options that are written as text: flags of `capstan shot`, and the query of `GET /screenshot`. An invalid text
 * is left as it is: the schema of the request refuses it, and names the accepted values.
 */

/**
 * Parses the texts that were given for an option. Only lists and maps may have more than one text.
 * @throws CapstanError `invalid_request`, with the name of the option, when a text is neither JSON nor `name=value`.
 */
export function optionFromTexts({ name, field }: OptionDescription, texts: readonly string[]): unknown {
  if (isMap(field)) return Object.assign({}, ...texts.map((text) => objectOf(name, field, text)));
  const item = listItem(field);
  if (item === undefined) return scalarOrObject(name, field, texts[0] ?? '');
  // `evidence` also accepts "all".
  if (field.anyOf?.some((choice) => choice.const === texts[0]) === true) return texts[0];
  return texts.flatMap((text) => (text.startsWith('[') ? parseJson(name, text) : [scalarOrObject(name, item, text)]));
}

/** Returns whether an option may be given more than once. */
export function isRepeatable(field: JsonField): boolean {
  return isMap(field) || listItem(field) !== undefined;
}

/** Returns whether an option is an object with arbitrary field names, such as headers. */
export function isMap({ type, properties }: JsonField): boolean {
  return type === 'object' && properties === undefined;
}

export function listItem(field: JsonField): JsonField | undefined {
  return field.items ?? field.anyOf?.find(({ items }) => items !== undefined)?.items;
}

export function scalarOrObject(name: string, field: JsonField, text: string): unknown {
  if (field.type === 'integer' || field.type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (field.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (field.anyOf?.some(({ type }) => type === 'string') === true) return text;
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
      if (value === undefined) {
        throw refusal([{ path: name, message: `takes name=value or JSON, not ${JSON.stringify(text)}` }]);
      }
      const part = field.properties?.[key];
      return [key, part === undefined ? value : scalarOrObject(name, part, value)];
    }),
  );
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `takes JSON, and ${JSON.stringify(text)} is not valid JSON: ${String(error)}`;
    throw refusal([{ path: name, message }]);
  }
}
