import { z } from 'zod';

/** A JSON value of the page's metadata, and the object whose property it is. */
interface Found {
  readonly value: unknown;
  readonly owner: Readonly<Record<string, unknown>>;
}

/** A text that a rule reads, with the currency beside it and the upper end of a range, if any. */
export interface MetadataText {
  readonly text: string;
  readonly currency?: string;
  readonly to?: string;
}

const named = z.record(z.string(), z.array(z.string()));
const metadata = z.object({
  open_graph: named,
  names: named,
  json_ld: z.array(z.unknown()),
  microdata: z.array(z.unknown()),
});
export type Metadata = z.output<typeof metadata>;

/** Longer chains of references than pages have. */
const MAX_REFERENCES = 10;
const SCHEMA_ORG = /^https?:\/\/schema\.org\//;

/** Returns the metadata of the output; undefined when it was cut. */
export function parseMetadata(json: string): Metadata | undefined {
  try {
    return metadata.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/**
 * Returns the texts that a path leads to, in their order. A path begins with the name of a schema.org type, whose first
 * item counts that has the properties; other names are those of Open Graph and of `<meta>`. The names that schema.org
 * gives to values, such as `https://schema.org/InStock`, are `InStock`.
 */
export function textsAt(page: Metadata, path: string): readonly MetadataText[] {
  const [first = '', ...properties] = path.split('.');
  const ofName = own(page.open_graph, first.toLowerCase()) ?? own(page.names, path.toLowerCase());
  if (ofName !== undefined) return ofName.map((text) => withCurrencyOf(page.open_graph, path, text));
  for (const items of [page.json_ld, page.microdata]) {
    const known = objectsIn(items);
    for (const item of known) {
      if (!typesOf(item).includes(first)) continue;
      const found = follow([{ value: item, owner: {} }], properties, known);
      const texts = found.map(textOf).filter((text) => text !== undefined);
      if (texts.length > 0) return texts;
    }
  }
  return [];
}

function follow(
  from: readonly Found[],
  [name, ...rest]: readonly string[],
  known: readonly object[],
): readonly Found[] {
  const values = from.flatMap(({ value, owner }) =>
    (Array.isArray(value) ? value : [value]).map((each: unknown) => ({ value: referred(each, known), owner })),
  );
  if (name === undefined) return values;
  const next = values.flatMap(({ value }) =>
    isObject(value) ? [{ value: own(propertiesOf(value), name), owner: propertiesOf(value) }] : [],
  );
  return follow(next, rest, known);
}

/** Returns the item that an object with nothing but an id refers to. */
function referred(value: unknown, known: readonly object[]): unknown {
  let found = value;
  for (let step = 0; step < MAX_REFERENCES && isObject(found); step += 1) {
    const [[name, id] = [], ...more] = Object.entries(found);
    if (name !== '@id' || more.length > 0) break;
    found = known.find((each) => isObject(each) && each['@id'] === id && Object.keys(each).length > 1) ?? null;
  }
  return found;
}

function textOf({ value, owner }: Found): MetadataText | undefined {
  if (isObject(value)) return textOfOffer(propertiesOf(value));
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = String(value).trim().replace(SCHEMA_ORG, '');
  return text === '' ? undefined : withCurrency(text, owner);
}

/** An offer, or a sum of money, whose property was not named. */
function textOfOffer(offer: Readonly<Record<string, unknown>>): MetadataText | undefined {
  const price = scalar(offer.price ?? offer.lowPrice ?? offer.value ?? offer['@value']);
  if (price === undefined) return undefined;
  const to = scalar(offer.highPrice);
  return { ...withCurrency(price, offer), ...(to !== undefined && { to }) };
}

function withCurrency(text: string, owner: Readonly<Record<string, unknown>>): MetadataText {
  const currency = scalar(owner.priceCurrency ?? owner.currency);
  return currency === undefined ? { text } : { text, currency };
}

/** Open Graph has the currency of `product:price:amount` in `product:price:currency`. */
function withCurrencyOf(names: Metadata['open_graph'], path: string, text: string): MetadataText {
  const currency = names[path.toLowerCase().replace(/:amount$/, ':currency')]?.[0];
  return currency === undefined || !path.endsWith(':amount') ? { text } : { text, currency };
}

function scalar(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' || typeof first === 'number' ? String(first).trim() : undefined;
}

/** Returns all objects in a value, those around others first. */
function objectsIn(values: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  const found: Readonly<Record<string, unknown>>[] = [];
  const waiting = [...values].toReversed();
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    if (isObject(each)) found.push(each);
    if (typeof each === 'object' && each !== null) waiting.push(...Object.values(each).toReversed());
  }
  return found;
}

/** Returns the types of an item without the addresses of their vocabularies. */
function typesOf(item: Readonly<Record<string, unknown>>): readonly string[] {
  const types: unknown = item['@type'] ?? item.type;
  return (Array.isArray(types) ? types : [types])
    .filter((type) => typeof type === 'string')
    .map((type) => type.slice(type.lastIndexOf('/') + 1));
}

/** Items of microdata have their properties apart. */
function propertiesOf(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isObject(item.properties) && Array.isArray(item.type) ? item.properties : item;
}

function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
