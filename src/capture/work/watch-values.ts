import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { rulesAt, type ValueType } from '../options/extract.ts';
import { filled, joinedProblems, listOf, objectOf, quantity } from '../options/fields.ts';
import { REQUEST_LIMITS } from '../request-limits.ts';
import { MoneySchema } from './money.ts';

/*
 * Values that a watch reads from the page with the rules of `extract`, and the conditions under which it reports them.
 */

/** Maximum number of values of a watch, of the conditions of its `when`, and of levels of `all` and `any`. */
const MAX_WATCHED_VALUES = 20;
const MAX_CONDITIONS = 20;
const MAX_LEVELS = 3;
const MAX_RULES_CHARACTERS = REQUEST_LIMITS.watchedValues.max;
const MAX_COMPARED_CHARACTERS = 200;
/** Maximum number of characters that a run keeps of the text of a value, and of a value that is a text. */
export const MAX_TEXT_OF_RUN = 200;

const NUMBERS: readonly ValueType[] = ['number', 'money', 'count'];
const READ: readonly ValueType[] = ['text', 'attribute', 'number', 'money', 'date', 'count'];

/** Rules of the values of a watch. They read a single value, and keep the text that it was read from. */
export const valuesField = z
  .preprocess(withFewValues, rulesAt(1))
  .superRefine((rules, context) => {
    for (const [name, { type, many, rules: inner }] of Object.entries(rules)) {
      const refuse = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [name, field], message });
      if (inner !== undefined) refuse('rules', 'is not accepted: a value has no values of its own');
      else if (type === undefined || !READ.includes(type)) refuse('type', `must be one of ${READ.join(', ')}`);
      if (many) refuse('many', 'is not accepted: a value is a single one, such as a count');
    }
  })
  .transform((rules) =>
    Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, { ...rule, withText: hasText(rule.type) }] as const),
    ),
  );

/** Counts rules and their characters before they are parsed, which takes far longer. */
function withFewValues(rules: unknown, context: z.RefinementCtx): unknown {
  if (typeof rules !== 'object' || rules === null) return rules;
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (Object.keys(rules).length > MAX_WATCHED_VALUES) return refuse(`must have at most ${MAX_WATCHED_VALUES} values`);
  return JSON.stringify(rules).length > MAX_RULES_CHARACTERS
    ? refuse(`must have at most ${MAX_RULES_CHARACTERS} characters as JSON`)
    : rules;
}

export type WatchedValues = Immutable<z.output<typeof valuesField>>;

const hasText = (type: ValueType | undefined): boolean => type === 'number' || type === 'money' || type === 'date';

const number = z.number({ error: 'must be a number' });
const compared = z.union([z.string().max(MAX_COMPARED_CHARACTERS), z.number()], {
  error: `must be a number, or a text of at most ${MAX_COMPARED_CHARACTERS} characters`,
});
const AMOUNT = 'must be true, a number such as 5, or a share such as "5%"';
const amount = z.union(
  [
    z.literal(true),
    quantity('', 0, Number.MAX_SAFE_INTEGER),
    z.string().regex(/^\d{1,4}(?:\.\d{1,4})?\s?%$/, { error: AMOUNT }),
  ],
  { error: AMOUNT },
);

const OPERATORS = ['below', 'above', 'equals', 'contains', 'became', 'changed', 'rose', 'fell', 'missing'] as const;
type Operator = (typeof OPERATORS)[number];
/** Operators that hold for as long as the value is so. The others hold for a run. */
export const LEVELS: readonly Operator[] = ['below', 'above', 'equals', 'contains', 'missing'];
const OF_NUMBERS: readonly Operator[] = ['below', 'above', 'rose', 'fell'];

const condition = objectOf(
  {
    value: filled('the name of one of the values', MAX_COMPARED_CHARACTERS),
    below: number.optional().meta({ description: 'A number, or an amount of money, is less than this.' }),
    above: number.optional().meta({ description: 'A number, or an amount of money, is more than this.' }),
    equals: compared.optional().meta({ description: 'The value is this number or text.' }),
    contains: filled('a text', MAX_COMPARED_CHARACTERS).optional().meta({ description: 'A text contains this one.' }),
    became: compared.optional().meta({ description: 'The value is this number or text, and was another one before.' }),
    changed: amount.optional().meta({
      description:
        'The value is another one; with a number or a share, it differs from the one before by at least this.',
    }),
    rose: amount.optional().meta({ description: 'The number is greater than before, by at least this.' }),
    fell: amount.optional().meta({ description: 'The number is smaller than before, by at least this.' }),
    missing: z.literal(true, { error: 'must be true' }).optional().meta({ description: 'The page has no such value.' }),
    since: z.enum(['previous', 'baseline'], { error: 'must be previous or baseline' }).default('previous').meta({
      description:
        'What `changed`, `rose`, `fell` and `became` compare with: the value that was read before, or that of the baseline, which was reported last.',
    }),
    hysteresis: quantity('', 0, Number.MAX_SAFE_INTEGER).default(0).meta({
      description:
        'After `below` or `above` was reported, the value must leave it by this much before it is reported again.',
    }),
  },
  'a condition',
  `an object with a value and one of ${OPERATORS.join(', ')}, or with all or any`,
).superRefine((written, context) => {
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const [operator, ...more] = operatorsOf(written);
  if (operator === undefined) refuse('value', `needs one of ${OPERATORS.join(', ')} beside it`);
  for (const other of more) refuse(other, `cannot be combined with ${operator}: use all or any`);
  if (written.hysteresis > 0 && operator !== 'below' && operator !== 'above')
    refuse('hysteresis', 'requires below or above');
});
export type Condition = Immutable<z.output<typeof condition>>;

/** Conditions of which all or any must hold, or a single one. */
export type When = Condition | { readonly all: readonly When[] } | { readonly any: readonly When[] };
export type WrittenWhen =
  | z.input<typeof condition>
  | { readonly all: readonly WrittenWhen[] }
  | { readonly any: readonly WrittenWhen[] };

function whenAt(level: number): z.ZodType<When, WrittenWhen> {
  const inner: z.ZodType<When, WrittenWhen> =
    level < MAX_LEVELS ? whenAt(level + 1) : z.never({ error: `must not be nested in more than ${MAX_LEVELS} levels` });
  const several = listOf(inner, 'conditions', MAX_CONDITIONS).min(1, { error: 'must have a condition' });
  const all = objectOf({ all: several }, 'conditions', 'an object with all');
  const any = objectOf({ any: several }, 'conditions', 'an object with any');
  return z.union([condition, all, any], { error: whenError });
}

/** Returns what is wrong with the object that was meant: one with `all` or `any`, or a condition. */
function whenError({ input, errors = [] }: z.core.$ZodRawIssue): string | undefined {
  const [ofCondition = [], ofAll = [], ofAny = []] = errors as readonly z.core.$ZodIssue[][];
  const has = (field: string) => typeof input === 'object' && input !== null && field in input;
  return joinedProblems(has('all') ? ofAll : has('any') ? ofAny : ofCondition);
}

export const whenField = whenAt(1).refine((when) => conditionsIn(when).length <= MAX_CONDITIONS, {
  error: `must have at most ${MAX_CONDITIONS} conditions`,
});

export function operatorsOf(written: Partial<Record<Operator, unknown>>): readonly Operator[] {
  return OPERATORS.filter((name) => written[name] !== undefined);
}

/** Returns the conditions in their order. */
export function conditionsIn(when: When): readonly Condition[] {
  if ('all' in when) return when.all.flatMap(conditionsIn);
  return 'any' in when ? when.any.flatMap(conditionsIn) : [when];
}

interface Values {
  readonly values?: WatchedValues | undefined;
  readonly when?: When | undefined;
  readonly extract?: Readonly<Record<string, unknown>> | undefined;
}

/** Refuses conditions on values that the watch does not have, or whose type they do not fit. */
export function refuseOtherValues({ values, when, extract }: Values, context: z.RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  for (const name of Object.keys(values ?? {})) {
    if (extract !== undefined && Object.hasOwn(extract, name))
      refuse(['values', name], 'is the name of a rule of extract, too: rename one of them');
  }
  if (when !== undefined && values === undefined) refuse(['when'], 'requires values');
  if (when === undefined || values === undefined) return;
  for (const { path, condition } of placesIn(when, ['when'])) {
    const type = Object.hasOwn(values, condition.value) ? values[condition.value]?.type : undefined;
    if (type === undefined) {
      const names = Object.keys(values).join(', ');
      refuse([...path, 'value'], `${JSON.stringify(condition.value)} is none of the values: ${names}`);
      continue;
    }
    const [operator = 'missing'] = operatorsOf(condition);
    const isOfNumber = OF_NUMBERS.includes(operator) || (operator === 'changed' && condition.changed !== true);
    if (isOfNumber && !NUMBERS.includes(type))
      refuse([...path, operator], `requires a value of the type ${NUMBERS.join(', ')}: ${condition.value} is ${type}`);
    if (operator === 'contains' && type !== 'text' && type !== 'attribute')
      refuse([...path, operator], `requires a value of the type text or attribute: ${condition.value} is ${type}`);
    if (operator !== 'equals' && operator !== 'became') continue;
    if ((typeof condition[operator] === 'number') !== NUMBERS.includes(type))
      refuse(
        [...path, operator],
        `must be a ${NUMBERS.includes(type) ? 'number' : 'text'}: ${condition.value} is ${type}`,
      );
  }
}

interface Place {
  readonly path: (string | number)[];
  readonly condition: Condition;
}

function placesIn(when: When, path: (string | number)[]): readonly Place[] {
  if ('all' in when) return when.all.flatMap((each, at) => placesIn(each, [...path, 'all', at]));
  if ('any' in when) return when.any.flatMap((each, at) => placesIn(each, [...path, 'any', at]));
  return [{ path, condition: when }];
}

/** A value that a run has read. */
export const ReadValueSchema = z.strictObject({
  value: z
    .union([z.string(), z.number(), MoneySchema])
    .nullable()
    .meta({ description: 'Null when the page does not have it, or when it cannot be read.' }),
  text: z
    .string()
    .nullable()
    .meta({
      description: `The text that it was read from, at most ${MAX_TEXT_OF_RUN} characters; null when the page does not have it.`,
    }),
});
export type ReadValue = Immutable<z.output<typeof ReadValueSchema>>;
export type ReadValues = Readonly<Record<string, ReadValue>>;
