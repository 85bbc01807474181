import { addressOf } from '../../api/address.ts';
/** The part of an option's JSON Schema that the form reads. */
export interface OptionSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly items?: OptionSchema;
  readonly anyOf?: readonly OptionSchema[];
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly 'x-group'?: string;
}

interface Document {
  readonly components: {
    readonly schemas: { readonly ScreenshotRequest: { readonly properties: Readonly<Record<string, OptionSchema>> } };
  };
}

export interface OptionGroup {
  readonly name: string;
  readonly options: readonly (readonly [name: string, schema: OptionSchema])[];
}

/** Reads the options of a capture from the OpenAPI document, by group. Without the URL, which has its own field. */
export async function readOptionGroups(): Promise<readonly OptionGroup[]> {
  const response = await fetch(addressOf('/openapi.json'));
  const document: Document = await response.json();
  const groups = new Map<string, [string, OptionSchema][]>();
  for (const [name, schema] of Object.entries(document.components.schemas.ScreenshotRequest.properties)) {
    if (name === 'url') continue;
    const group = schema['x-group'] ?? 'other';
    groups.set(group, [...(groups.get(group) ?? []), [name, schema]]);
  }
  // The options of the target come last: the deadline and the callback are rarely changed.
  const named = [...groups].map(([name, options]) => ({ name, options }));
  return [...named.filter(({ name }) => name !== 'target'), ...named.filter(({ name }) => name === 'target')];
}

export type Control =
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'several'; readonly values: readonly string[] }
  | { readonly kind: 'number' }
  | { readonly kind: 'text'; readonly isLong: boolean }
  | { readonly kind: 'lines' }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, schema: OptionSchema])[] }
  | { readonly kind: 'json' };

/** Maximum length of an ordinary text, in characters. Options with a larger maximum are scripts and style sheets. */
const LONG_TEXT = 5000;

/** Returns the control for an option. An option without a control of its own is written as JSON. */
export function controlOf(schema: OptionSchema): Control {
  const { type, enum: values, anyOf, items, properties, maxLength = 0 } = schema;
  if (values !== undefined) return { kind: 'choice', values };
  if (anyOf !== undefined) {
    const list = anyOf.find((each) => each.items?.enum !== undefined);
    return list === undefined ? { kind: 'json' } : { kind: 'several', values: list.items?.enum ?? [] };
  }
  if (type === 'boolean') return { kind: 'flag' };
  if (type === 'integer' || type === 'number') return { kind: 'number' };
  if (type === 'string') return { kind: 'text', isLong: maxLength > LONG_TEXT };
  if (type === 'array' && items?.enum !== undefined) return { kind: 'several', values: items.enum };
  if (type === 'array' && items?.type === 'string') return { kind: 'lines' };
  if (properties !== undefined && Object.values(properties).every((each) => controlOf(each).kind !== 'json')) {
    return { kind: 'fields', fields: Object.entries(properties) };
  }
  return { kind: 'json' };
}

/** Returns the default and the bounds as human-readable text. */
export function boundsOf({ type, minimum, maximum, default: preset }: OptionSchema): string {
  const isBound = (value: number | undefined) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const range =
    isBound(minimum) && isBound(maximum) ? `${minimum} to ${maximum}` : isBound(minimum) ? `at least ${minimum}` : '';
  const shown = preset === undefined || type === 'object' || preset === false ? '' : `default ${String(preset)}`;
  return [range, shown].filter((part) => part !== '').join(', ');
}
