import { z } from 'zod';
import { parseOrRefuse, refusal } from './problems.ts';

/**
 * The parameters of a path and a query that a schema names. One that is given twice is refused, for which was meant?
 * Fields with `meta({ repeatable: true })` take several, and are read as lists.
 */
export function readParameters<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
  path: Readonly<Record<string, string>>,
  querystring: string,
): z.output<z.ZodObject<S>> {
  const given = new URLSearchParams(querystring);
  const values: Record<string, string | string[]> = {};
  const repeated: string[] = [];
  for (const [name, field] of Object.entries(schema.shape)) {
    const texts = given.getAll(name);
    const [first] = texts;
    if (first === undefined || Object.hasOwn(path, name)) continue;
    const isList = z.globalRegistry.get(field)?.repeatable === true;
    if (texts.length > 1 && !isList) repeated.push(name);
    values[name] = isList ? texts : first;
  }
  if (repeated.length > 0) throw refusal(repeated.map((name) => ({ path: name, message: 'must be given only once' })));
  return parseOrRefuse(schema, { ...values, ...path });
}
