import { z } from 'zod';
import { optionFacts } from './facts.ts';

/** The parts of a field's JSON schema that its description is generated from. */
const JsonField = z.object({
  /** The type that is not null, if there are several. */
  type: z.union([z.string(), z.array(z.string()).transform((all) => all.find((type) => type !== 'null'))]).optional(),
  enum: z.array(z.string()).optional(),
  const: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  maxProperties: z.number().optional(),
  default: z.unknown().optional(),
  description: z.string().default(''),
  get items() {
    return JsonField.optional();
  },
  get properties() {
    return z.record(z.string(), JsonField).optional();
  },
  get anyOf() {
    return z.array(JsonField).optional();
  },
  required: z.array(z.string()).default([]),
});
export type JsonField = z.output<typeof JsonField>;

/** An option as the command line and the documentation describe it. */
export interface OptionDescription {
  readonly name: string;
  readonly field: JsonField;
  /** Accepted values, for people: `an integer from 1 to 100`. */
  readonly takes: string;
  readonly default: string;
  readonly description: string;
}

/** Describes the options of a group from their schemas. */
export function describeOptions(fields: Readonly<Record<string, z.ZodType>>): readonly OptionDescription[] {
  return Object.entries(fields).map(([name, schema]) => {
    const field = JsonField.parse(toJson(schema));
    const decided = optionFacts.get(schema)?.defaultText ?? defaultText(field);
    return { name, field, takes: takesText(field), default: decided, description: field.description };
  });
}

function toJson(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { default: written } = z.globalRegistry.get(zodSchema) ?? {};
      if (written !== undefined) jsonSchema.default = written;
    },
  });
}

function defaultText({ default: decided }: JsonField): string {
  if (decided === undefined) return 'none';
  return typeof decided === 'string' ? decided : JSON.stringify(decided);
}

function takesText(field: JsonField): string {
  const { type, enum: values, const: only, anyOf, items, properties, required } = field;
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (anyOf !== undefined) return anyOf.map(takesText).join(', or ');
  if (type === 'boolean') return 'true or false';
  if (type === 'integer') return `an integer${range(field)}`;
  if (type === 'number') return `a number${range(field)}`;
  if (type === 'string')
    return field.maxLength === undefined ? 'text' : `text of at most ${field.maxLength} characters`;
  if (type === 'array') {
    const bound = field.maxItems === undefined ? '' : ` of at most ${field.maxItems}`;
    const isScalar = items?.type === 'string' || items?.enum !== undefined || items?.anyOf !== undefined;
    return isScalar ? `a list${bound}: ${takesText(items)}` : `a list${bound} objects`;
  }
  if (properties === undefined) return 'an object';
  const parts = Object.entries(properties).map(([name, part]) => {
    const facts = [
      ...(part.enum !== undefined || part.minimum !== undefined ? [takesText(part)] : []),
      ...(part.default !== undefined ? [`default ${defaultText(part)}`] : []),
    ].join(', ');
    return `${name}${required.includes(name) ? '' : '?'}${facts === '' ? '' : ` (${facts})`}`;
  });
  return `an object: ${parts.join(', ')}`;
}

function range({ minimum, maximum }: JsonField): string {
  const isBound = (value: number | undefined) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  if (isBound(minimum) && isBound(maximum)) return ` from ${minimum} to ${maximum}`;
  return isBound(minimum) ? ` of ${minimum} or more` : '';
}
