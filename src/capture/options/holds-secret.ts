import { z } from 'zod';
import { optionFacts } from './facts.ts';

/**
 * Returns whether a value contains anything that its schema, or the schema of one of its parts, marks as secret, or a
 * text without `secret: false`. The value is one that the schema has parsed.
 */
export function holdsSecret(schema: z.core.$ZodType, value: unknown): boolean {
  if (value === undefined) return false;
  const stated = optionFacts.get(schema)?.secret;
  if (stated !== undefined || schema._zod.def.type === 'string') return stated ?? true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return holdsSecret(schema.unwrap(), value);
  if (schema instanceof z.ZodPipe)
    return holdsSecret(schema.in instanceof z.ZodTransform ? schema.out : schema.in, value);
  if (schema instanceof z.ZodUnion) {
    // Parsing costs far more, and few choices hold secrets.
    return schema.options.some(
      (choice: z.core.$ZodType) => holdsSecret(choice, value) && z.safeParse(choice, value).success,
    );
  }
  if (typeof value !== 'object' || value === null) return false;
  if (schema instanceof z.ZodArray) return Object.values(value).some((item) => holdsSecret(schema.element, item));
  if (schema instanceof z.ZodRecord) return Object.values(value).some((item) => holdsSecret(schema.valueType, item));
  if (!(schema instanceof z.ZodObject)) return false;
  return Object.entries(value).some(([name, part]) => {
    const field = schema.shape[name];
    return field !== undefined && holdsSecret(field, part);
  });
}
