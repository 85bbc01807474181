import type { Watch } from '../../../api/types.ts';

/** Types of values, as the form names them. */
export const TYPES = {
  money: 'Price',
  number: 'Number',
  text: 'Text',
  date: 'Date',
  count: 'Count',
  attribute: 'Attribute',
} as const;
export type ValueType = keyof typeof TYPES;

/** A value as the form shows it. */
export interface ValueDraft {
  readonly name: string;
  readonly type: ValueType;
  readonly from: 'selector' | 'metadata';
  /** A selector, or a path such as `Product.offers.price`. */
  readonly where: string;
  readonly attribute: string;
}

/** How conditions are said, after "Tell me when price". */
export const OPERATORS = {
  below: 'falls below',
  above: 'rises above',
  changed: 'changes',
  fell: 'falls',
  rose: 'rises',
  became: 'becomes',
  equals: 'is',
  contains: 'contains',
  missing: 'is missing',
} as const;
export type Operator = keyof typeof OPERATORS;

/** Example for the field beside each operator; undefined for none. */
export const AGAINST: Readonly<Record<Operator, string | undefined>> = {
  below: '50',
  above: '50',
  changed: 'any, 5 or 5%',
  fell: 'any, 5 or 5%',
  rose: 'any, 5 or 5%',
  became: 'InStock',
  equals: 'InStock',
  contains: 'words',
  missing: undefined,
};

/** Whether an operator takes the amount of a change, such as `5%`, or none for any change. */
export function isByAmount(operator: Operator): boolean {
  return operator === 'changed' || operator === 'fell' || operator === 'rose';
}

const NUMBERS: ReadonlySet<ValueType> = new Set(['money', 'number', 'count']);
const TEXTS: ReadonlySet<ValueType> = new Set(['text', 'attribute']);
/** Operator that is offered first for each type. */
const USUAL: Readonly<Record<ValueType, Operator>> = {
  money: 'below',
  number: 'changed',
  text: 'became',
  date: 'changed',
  count: 'rose',
  attribute: 'became',
};

/** Returns the operators that a value of a type can be asked with, the usual one first. */
export function operatorsFor(type: ValueType): readonly Operator[] {
  const fits = (operator: Operator) =>
    ['below', 'above', 'fell', 'rose'].includes(operator)
      ? NUMBERS.has(type)
      : operator !== 'contains' || TEXTS.has(type);
  const all = names(OPERATORS).filter(fits);
  return [USUAL[type], ...all.filter((operator) => operator !== USUAL[type])];
}

/** A condition as the form shows it. */
export interface ConditionDraft {
  readonly value: string;
  readonly operator: Operator;
  readonly against: string;
  /** Of `below` and `above`: by how much a value must leave before it is told again. */
  readonly hysteresis: string;
  readonly since: 'previous' | 'baseline';
}

export interface ConditionsDraft {
  readonly join: 'all' | 'any';
  readonly conditions: readonly ConditionDraft[];
  /** Conditions that the form cannot show, such as nested ones. They are kept. */
  readonly written?: unknown;
}

export const NO_CONDITIONS: ConditionsDraft = { join: 'all', conditions: [] };

export function newCondition({ name, type }: ValueDraft): ConditionDraft {
  return { value: name, operator: USUAL[type], against: '', hysteresis: '', since: 'previous' };
}

/** Returns the rules of a watch's values as drafts. */
export function valueDraftsOf(values: Watch['values']): readonly ValueDraft[] {
  return Object.entries(values ?? {}).map(([name, rule]) => {
    const { type, selector, metadata, attribute } = isObject(rule) ? rule : {};
    const isMetadata = typeof metadata === 'string';
    return {
      name,
      type: names(TYPES).find((each) => each === type) ?? 'text',
      from: isMetadata ? 'metadata' : 'selector',
      where: String((isMetadata ? metadata : selector) ?? ''),
      attribute: typeof attribute === 'string' ? attribute : '',
    };
  });
}

/** Returns `values` of the API; undefined without any. */
export function valuesOf(drafts: readonly ValueDraft[]): Readonly<Record<string, object>> | undefined {
  if (drafts.length === 0) return undefined;
  return Object.fromEntries(
    drafts.map(({ name, type, from, where, attribute }) => {
      const place = { ...(where.trim() !== '' && { [from]: where.trim() }) };
      const read = from === 'selector' && attribute.trim() !== '' ? { attribute: attribute.trim() } : {};
      return [name.trim(), { ...place, ...read, type }] as const;
    }),
  );
}

/** Returns the rules as `extract` of a capture, with the texts that were read. */
export function extractOf(drafts: readonly ValueDraft[]): Readonly<Record<string, object>> | undefined {
  const rules = Object.entries(valuesOf(drafts.filter(isPlaced)) ?? {});
  if (rules.length === 0) return undefined;
  const withText = new Set<unknown>(['money', 'number', 'date']);
  return Object.fromEntries(
    rules.map(([name, rule]) => [
      name,
      { ...rule, ...('type' in rule && withText.has(rule.type) && { withText: true }) },
    ]),
  );
}

export const isPlaced = ({ name, where, attribute }: ValueDraft): boolean =>
  name.trim() !== '' && (where.trim() !== '' || attribute.trim() !== '');

/** Returns `when` of a watch as a draft. */
export function conditionsDraftOf(when: unknown): ConditionsDraft {
  if (when === null || when === undefined) return NO_CONDITIONS;
  const join = isObject(when) && 'any' in when ? 'any' : 'all';
  const listed: unknown = isObject(when) && (when.all ?? when.any);
  const conditions = (Array.isArray(listed) ? listed : [when]).map(conditionDraftOf);
  const known = conditions.filter((each) => each !== undefined);
  return known.length === conditions.length ? { join, conditions: known } : { ...NO_CONDITIONS, written: when };
}

/** Returns a condition as a draft; undefined for one that the form cannot show. */
export function conditionDraftOf(written: unknown): ConditionDraft | undefined {
  if (!isObject(written)) return undefined;
  const operator = names(OPERATORS).find((name) => written[name] !== undefined);
  if (operator === undefined || typeof written.value !== 'string') return undefined;
  const { value, hysteresis = 0, since } = written;
  return {
    value,
    operator,
    against: written[operator] === true ? '' : String(written[operator]),
    hysteresis: hysteresis === 0 ? '' : String(hysteresis),
    since: since === 'baseline' ? 'baseline' : 'previous',
  };
}

/** Returns `when` of the API; undefined for none. A text that is no number is sent as it is, and the answer says so. */
export function whenOf({ join, conditions, written }: ConditionsDraft, values: readonly ValueDraft[]): unknown {
  const all = conditions.map((each) => conditionOf(each, values));
  if (written !== undefined || all.length === 0) return written;
  return all.length === 1 ? all[0] : { [join]: all };
}

function conditionOf({ value, operator, against, hysteresis, since }: ConditionDraft, values: readonly ValueDraft[]) {
  const type = values.find(({ name }) => name === value)?.type ?? 'text';
  const isLevel = operator === 'below' || operator === 'above';
  return {
    value,
    [operator]: againstOf(operator, against.trim(), NUMBERS.has(type)),
    ...(isLevel && hysteresis.trim() !== '' && { hysteresis: numberIn(hysteresis) }),
    ...(since === 'baseline' && { since }),
  };
}

function againstOf(operator: Operator, against: string, isNumber: boolean): unknown {
  if (operator === 'missing') return true;
  if (isByAmount(operator)) {
    return against === '' || against === 'any'
      ? true
      : /%$/.test(against)
        ? against.replace(/\s/g, '')
        : numberIn(against);
  }
  return isNumber ? numberIn(against) : against;
}

/** Reads a number with a point or a comma; another text is returned as it is. */
function numberIn(text: string): number | string {
  const number = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** Returns a draft of what was pointed at, by its text. */
export function pickedValue(where: string, text: string, taken: readonly ValueDraft[]): ValueDraft {
  const hasDigits = /\p{Nd}/u.test(text);
  const isMoney = hasDigits && /\p{Sc}|\b[A-Z]{3}\b|(?:kr|zł|Kč|TL|円|원|元)/u.test(text);
  const type = isMoney ? 'money' : /^\D{0,3}[\p{Nd}\s.,]+\D{0,12}$/u.test(text) && hasDigits ? 'number' : 'text';
  const wanted = { money: 'price', number: 'number', text: 'text' }[type];
  const used = new Set(taken.map(({ name }) => name));
  let name = wanted;
  for (let at = 2; used.has(name); at += 1) name = `${wanted}${at}`;
  return { name, type, from: 'selector', where, attribute: '' };
}

export function names<Name extends string>(of: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(of) as Name[];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
