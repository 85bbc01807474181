import { z } from 'zod';
import { describeOptions, type JsonField, type OptionDescription } from '../../capture/options/describe.ts';
import { isMap, isRepeatable, listItem, optionFromTexts, scalarOrObject } from '../../capture/options/from-text.ts';
import { DEFAULT_LIMITS, describedRequest } from '../../capture/request.ts';

/*
 * The options of a capture as parameters of a query, derived from their definitions. A field of an object is a
 * parameter of its own, too: `viewport.width`.
 */

interface Part {
  readonly option: OptionDescription;
  /** Name of the field within the option's object. */
  readonly key: string;
  readonly field: JsonField;
}

/** Without `html`, for which URLs are too short, and what only it takes. */
const OPTIONS: readonly OptionDescription[] = Object.values(describedRequest(DEFAULT_LIMITS)).flatMap((fields) =>
  describeOptions(fields).filter(({ name }) => name !== 'html' && name !== 'allowNetwork'),
);

const PARTS: readonly Part[] = OPTIONS.flatMap((option) =>
  Object.entries(option.field.properties ?? {}).map(([key, field]) => ({ option, key, field })),
);

/** The parameters of the query. Each is a text, which `bodyOfQuery` parses. */
export const captureQuery: Readonly<Record<string, z.ZodType>> = Object.fromEntries([
  ...OPTIONS.map((option) => [option.name, parameterOf(option)]),
  ...PARTS.map(({ option, key, field }) => [
    `${option.name}.${key}`,
    z
      .string()
      .optional()
      .meta({ ...factsOf(field), description: `\`${key}\` of \`${option.name}\`. ${field.description}`.trim() }),
  ]),
]);

function parameterOf(option: OptionDescription): z.ZodType {
  const { name, field, takes } = option;
  const written = isRepeatable(field) || field.type === 'object' ? ` ${howTo(field)}` : '';
  const description = `${option.description}${written} Takes ${takes}.`;
  if (name === 'url') return z.string({ error: 'is required' }).meta({ description });
  if (!isRepeatable(field))
    return z
      .string()
      .optional()
      .meta({ ...factsOf(field), description });
  return z.array(z.string()).optional().meta({ repeatable: 'each', description });
}

function howTo(field: JsonField): string {
  if (isMap(field)) return 'Written as `name=value` or JSON; may be repeated.';
  return listItem(field) === undefined ? 'Written as `name=value,name=value` or JSON.' : 'May be repeated.';
}

/** Returns the type and the bounds of a value for the OpenAPI document. */
function factsOf({ type, enum: values, minimum, maximum }: JsonField): Readonly<Record<string, unknown>> {
  if (values !== undefined) return { type: 'string', enum: values };
  if (type !== 'integer' && type !== 'number' && type !== 'boolean') return {};
  const isBound = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  return { type, ...(isBound(minimum) ? { minimum } : {}), ...(isBound(maximum) ? { maximum } : {}) };
}

/** Returns the body of `POST /screenshot` that is equivalent to a query. */
export function bodyOfQuery(query: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const option of OPTIONS) {
    const texts = textsOf(query[option.name]);
    // `?fullPage` is short for `?fullPage=true`.
    if (texts.length > 0) body[option.name] = optionFromTexts(option, isSwitch(option, texts) ? ['true'] : texts);
  }
  for (const { option, key, field } of PARTS) {
    const [text] = textsOf(query[`${option.name}.${key}`]);
    if (text === undefined) continue;
    body[option.name] = { ...Object(body[option.name]), [key]: scalarOrObject(option.name, field, text) };
  }
  return body;
}

function isSwitch({ field }: OptionDescription, texts: readonly string[]): boolean {
  return field.type === 'boolean' && texts[0] === '';
}

function textsOf(given: unknown): readonly string[] {
  return given === undefined ? [] : [given].flat().map(String);
}
