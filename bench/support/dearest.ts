/** A part of a JSON schema, as in the OpenAPI document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

/** Refuses connections, so that captures of it are cheap, and have a record: port 1 would be forbidden. */
export const DEAD_URL = 'http://127.0.0.1:2/';
/** Maximum number of values of an enumeration that are tried; the devices are more. */
const MAX_OF_ENUM = 40;
const MIN_LARGE = 500;

/** Texts that are dear for whatever reads them as a selector, a pattern or a name, up to a length. */
const TEXTS: readonly ((length: number) => string)[] = [
  (length) => 'x'.repeat(length),
  (length) => nested(':is(', 'a', ')', length),
  (length) => nested(':not(:has(', 'a', '))', length),
  (length) => filled('a,', length).replace(/,$/, ''),
  (length) => filled('* ', length).trim(),
  (length) => filled('a*', length),
  (length) => filled('\u00ad\u0301', length),
  (length) => filled('\u0301\u0327', length),
];

function nested(before: string, middle: string, after: string, length: number): string {
  const depth = Math.max(0, Math.floor((length - middle.length) / (before.length + after.length)));
  return before.repeat(depth) + middle + after.repeat(depth);
}

const filled = (part: string, length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length);

export type Schemas = Readonly<Record<string, Schema>>;

/**
 * Returns the largest and dearest values that a schema takes, each kind of text in one of them. The JSON of each has at
 * most some `bytes`.
 */
export function dearestOf(schema: Schema, schemas: Schemas, bytes: number): readonly unknown[] {
  const of = (part: Schema, most = bytes) => dearestOf(part, schemas, most);
  const { $ref, anyOf, oneOf, items, properties = {}, additionalProperties: others } = schema;
  if ($ref !== undefined) return of(schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return schema.enum.slice(0, MAX_OF_ENUM);
  const names = Object.keys(properties);
  // A request, whose target is one of two fields: the others one by one, if they are large.
  if (oneOf !== undefined && names.length > 0) {
    const each = names.flatMap((name) => of(properties[name] ?? {}).map((value) => ({ url: DEAD_URL, [name]: value })));
    return each.filter((request) => JSON.stringify(request).length > MIN_LARGE);
  }
  const either = anyOf ?? oneOf;
  if (either !== undefined) return either.flatMap((each) => of(each));
  if (items?.enum !== undefined) return [items.enum, ...items.enum.slice(0, MAX_OF_ENUM).map((value) => [value])];
  if (items !== undefined) {
    return of(items, bytes / 2).map((item) =>
      Array.from({ length: countOf(item, schema.maxItems, bytes) }, () => item),
    );
  }
  if (names.length > 0) {
    const values = names.map((name) => of(properties[name] ?? {}, bytes / names.length));
    return TEXTS.map((_, at) => {
      const given = values.flatMap((all, index) => (all.length === 0 ? [] : [[names[index], all[at % all.length]]]));
      return Object.fromEntries(given);
    });
  }
  if (typeof others === 'object') {
    return of(others, bytes / 100).map((value) => {
      const count = countOf(value, schema.maxProperties, bytes);
      return Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, value]));
    });
  }
  const [type] = [schema.type ?? []].flat();
  // A character of the texts takes up to six bytes of JSON.
  if (type === 'string') return TEXTS.map((text) => text(Math.floor(Math.min(schema.maxLength ?? bytes, bytes / 6))));
  if (type === 'integer' || type === 'number') return [schema.maximum ?? 1e6];
  return type === 'boolean' ? [true] : [];
}

function countOf(item: unknown, max: number | undefined, bytes: number): number {
  return Math.max(1, Math.min(max ?? 10_000, Math.floor(bytes / (JSON.stringify(item).length + 10))));
}
