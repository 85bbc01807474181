import { z } from 'zod';
import type { Immutable } from '../immutable.ts';
import { optionFacts } from './facts.ts';
import { filled, flag, objectOf, selector } from './fields.ts';

/** Maximum number of rules of a request, nested ones included, and of levels of nesting. */
const MAX_RULES = 100;
const MAX_LEVELS = 3;
const MAX_NAME_CHARACTERS = 64;
const MAX_ATTRIBUTE_CHARACTERS = 100;

const VALUE_TYPES = ['text', 'html', 'attribute', 'number', 'date', 'box'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];
/** Types whose values can be read from an attribute. */
const OF_ATTRIBUTES: readonly ValueType[] = ['attribute', 'number', 'date'];

/** A rule as it is written. A text is short for its selector. */
export type WrittenRule =
  | string
  | {
      readonly selector?: string | undefined;
      readonly type?: ValueType | undefined;
      readonly attribute?: string | undefined;
      readonly many?: boolean | undefined;
      readonly rules?: WrittenRules | undefined;
    };
export type WrittenRules = { readonly [name: string]: WrittenRule };

/** Element to find, and how it is read: as a value, or as the values of `rules` below the element. */
export interface ExtractRule {
  /** The element that the rule is nested in, or the root element. */
  readonly selector?: string | undefined;
  /** Undefined with `rules`. */
  readonly type?: ValueType | undefined;
  readonly attribute?: string | undefined;
  readonly many: boolean;
  readonly rules?: ExtractRules | undefined;
}
export type ExtractRules = { readonly [name: string]: ExtractRule };

const NAME = `must have a name of 1 to ${MAX_NAME_CHARACTERS} letters, digits, _ and -, which begins with a letter or _`;
const name = z
  .string()
  .max(MAX_NAME_CHARACTERS)
  .regex(/^[\p{L}_][\p{L}\p{N}_-]*$/u);
const TYPE = { error: `must be ${VALUE_TYPES.slice(0, -1).join(', ')} or ${VALUE_TYPES.at(-1)}` };

function rulesAt(level: number): z.ZodType<ExtractRules, WrittenRules> {
  return z
    .record(name, ruleAt(level), {
      error: ({ code }) => (code === 'invalid_key' ? NAME : 'must be an object of named rules'),
    })
    .refine((rules) => Object.keys(rules).length > 0, { error: 'must have a rule' });
}

function ruleAt(level: number): z.ZodType<ExtractRule, WrittenRule> {
  const short = selector.transform((text): ExtractRule => ({ selector: text, type: 'text', many: false }));
  return z.union([short, writtenAt(level)], { error: ruleError });
}

function writtenAt(level: number) {
  const rules =
    level < MAX_LEVELS
      ? rulesAt(level + 1).optional()
      : z.never({ error: `must not be nested in more than ${MAX_LEVELS} levels` }).optional();
  return objectOf(
    {
      selector: selector.optional().meta({
        description: 'Without it, the rule reads the element that it is nested in, or the root element of the page.',
      }),
      type: z.enum(VALUE_TYPES, TYPE).optional(),
      attribute: filled("an attribute's name", MAX_ATTRIBUTE_CHARACTERS)
        .register(optionFacts, { secret: false })
        .optional()
        .meta({ description: 'The attribute that is read, also as a number or a date.' }),
      many: flag.default(false).meta({ description: 'List the values of all elements that match.' }),
      rules: rules.meta({ description: 'Rules that are applied below the element, in place of a type.' }),
    },
    'a rule',
    'a selector, or an object with any of selector, type, attribute, many and rules',
  )
    .superRefine(({ type, attribute, rules }, context) => {
      const refuse = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [field], message, continue: false });
      if (type === 'attribute' && attribute === undefined) refuse('attribute', 'is required by the type attribute');
      if (rules !== undefined && type !== undefined)
        refuse('type', 'cannot be combined with rules: remove one of them');
      if (rules !== undefined && attribute !== undefined)
        refuse('attribute', 'cannot be combined with rules: remove one of them');
      if (attribute !== undefined && type !== undefined && !OF_ATTRIBUTES.includes(type))
        refuse('attribute', `cannot be combined with the type ${type}: it takes ${OF_ATTRIBUTES.join(', ')}`);
    })
    .transform((rule): ExtractRule => {
      if (rule.type !== undefined || rule.rules !== undefined) return rule;
      return { ...rule, type: rule.attribute === undefined ? 'text' : 'attribute' };
    });
}

/** Returns what is wrong with a rule: of a text, of its object's fields, or that it is neither. */
function ruleError({ input, errors = [] }: z.core.$ZodRawIssue): string | undefined {
  const [ofText = [], ofObject = []] = errors as readonly z.core.$ZodIssue[][];
  const problems = typeof input === 'string' ? ofText : ofObject;
  return problems
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/** Counts rules before they are parsed, which takes far longer. */
function withFewRules(rules: WrittenRules, context: z.RefinementCtx): WrittenRules {
  if (countOf(rules) <= MAX_RULES) return rules;
  context.addIssue({ code: 'custom', message: `must have at most ${MAX_RULES} rules` });
  return z.NEVER;
}

function countOf(rules: unknown): number {
  if (typeof rules !== 'object' || rules === null) return 0;
  return Object.values(rules).reduce<number>((sum, rule: unknown) => {
    const isNested = typeof rule === 'object' && rule !== null && 'rules' in rule;
    return sum + 1 + (isNested ? countOf(rule.rules) : 0);
  }, 0);
}

/** Values to find in the page. */
export const extractField = z
  .preprocess(withFewRules, rulesAt(1))
  .optional()
  .meta({
    description:
      'Values to find in the page, by the names of their rules. A rule is a selector, or an object: `selector` (CSS or XPath), `type` (text, html, attribute, number, date or box), `attribute`, `many` for a list of all that match, `rules` for rules below each match. A missing value is null, a missing list is empty. The values are the output `extract`, and `extract` of the result when they are small.',
    examples: [
      {
        title: 'h1',
        price: { selector: '.price', type: 'number' },
        offers: { selector: 'li.offer', many: true, rules: { name: 'b', link: { selector: 'a', attribute: 'href' } } },
      },
    ],
  });

export type Extraction = Immutable<NonNullable<z.output<typeof extractField>>>;
