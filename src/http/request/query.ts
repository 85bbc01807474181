import { z } from 'zod';
import { suggestion } from '../../capture/basics/similar-names.ts';
import type { FieldProblem } from '../../capture/failure-details.ts';
import { parseOrRefuse, refusal } from '../../capture/validate.ts';
import { isEncodedUtf8 } from './utf8.ts';

const NOT_UTF8 = 'must be UTF-8, as in caf%C3%A9; a %E9 that is part of a URL is written %25E9';

/**
 * Reads the parameters of a path and a query by a schema. Refuses unknown parameters, and repeated ones except fields
 * with `meta({ repeatable })`, which are lists: true for texts with commas, `each` for one element each.
 */
export function readParameters<S extends z.ZodRawShape>(
  schema: z.ZodObject<S>,
  path: Readonly<Record<string, string>>,
  querystring: string,
): z.output<z.ZodObject<S>> {
  const given = new URLSearchParams(querystring);
  const known = Object.keys(schema.shape).filter((name) => !Object.hasOwn(path, name));
  const problems: FieldProblem[] = querystring.split('&').flatMap((part) => {
    const [name = ''] = part.split('=', 1);
    return isEncodedUtf8(part) ? [] : [{ path: isEncodedUtf8(name) ? nameOf(part) : name, message: NOT_UTF8 }];
  });
  if (problems.length > 0) throw refusal(problems);
  const values: Record<string, string | readonly string[]> = {};
  for (const name of new Set(given.keys())) {
    const texts = given.getAll(name);
    if (!known.includes(name)) problems.push({ path: name, message: unknownParameter(name, known) });
    else if (isRepeatable(schema, name)) values[name] = texts;
    else if (texts.length > 1) problems.push({ path: name, message: 'must be given only once' });
    else values[name] = texts.join();
  }
  if (problems.length > 0) throw refusal(problems);
  return parseOrRefuse(schema, { ...values, ...path });
}

function nameOf(part: string): string {
  return new URLSearchParams(part).keys().next().value ?? '';
}

function isRepeatable(schema: z.ZodObject, name: string): boolean {
  const field = schema.shape[name];
  return field !== undefined && z.globalRegistry.get(field)?.repeatable !== undefined;
}

function unknownParameter(name: string, known: readonly string[]): string {
  return known.length === 0
    ? 'is not a query parameter of this path; it has none'
    : `is not a query parameter of this path${suggestion([name], known)}; its parameters are ${known.join(', ')}`;
}
