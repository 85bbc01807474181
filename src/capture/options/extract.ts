import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { optionFacts } from './facts.ts';
import { filled, flag, joinedProblems, objectOf, selector } from './fields.ts';

/** Maximum number of rules of a request, nested ones included, and of levels of nesting. */
const MAX_RULES = 100;
const MAX_LEVELS = 3;
const MAX_NAME_CHARACTERS = 64;
const MAX_ATTRIBUTE_CHARACTERS = 100;
const MAX_PATH_CHARACTERS = 200;

const VALUE_TYPES = ['text', 'html', 'attribute', 'number', 'money', 'date', 'box', 'count'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];
/** Types whose values can be read from an attribute. */
const OF_ATTRIBUTES: readonly ValueType[] = ['attribute', 'number', 'money', 'date'];
/** Types whose values can be read from metadata. */
const OF_METADATA: readonly ValueType[] = ['text', 'number', 'money', 'date', 'count'];
/** Types whose values are made from a text. */
const OF_TEXTS: readonly ValueType[] = ['number', 'money', 'date'];

/** A rule as it is written. A text is short for its selector. */
type WrittenRule =
  | string
  | {
      readonly selector?: string | undefined;
      readonly type?: ValueType | undefined;
      readonly attribute?: string | undefined;
      readonly metadata?: string | undefined;
      readonly many?: boolean | undefined;
      readonly withText?: boolean | undefined;
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
  /** Path of a value in the page's metadata, in place of an element. */
  readonly metadata?: string | undefined;
  readonly many: boolean;
  /** Whether the value comes with the text that it was read from. */
  readonly withText: boolean;
  readonly rules?: ExtractRules | undefined;
}
export type ExtractRules = { readonly [name: string]: ExtractRule };

const NAME = `must have a name of 1 to ${MAX_NAME_CHARACTERS} letters, digits, _ and -, which begins with a letter or _`;
const name = z
  .string()
  .max(MAX_NAME_CHARACTERS)
  .regex(/^[\p{L}_][\p{L}\p{N}_-]*$/u);
const path = filled('a path such as Product.offers.price', MAX_PATH_CHARACTERS)
  .regex(/^[\p{L}\p{N}_@:-]+(?:\.[\p{L}\p{N}_@:-]+)*$/u, {
    error: 'must be a path such as Product.offers.price, or a name such as og:title',
  })
  .register(optionFacts, { secret: false });
const TYPE = { error: `must be ${VALUE_TYPES.slice(0, -1).join(', ')} or ${VALUE_TYPES.at(-1)}` };

/** Rules by their names. `level`: how deep they are nested. */
export function rulesAt(level: number): z.ZodType<ExtractRules, WrittenRules> {
  return z
    .record(name, ruleAt(level), {
      error: ({ code }) => (code === 'invalid_key' ? NAME : 'must be an object of named rules'),
    })
    .refine((rules) => Object.keys(rules).length > 0, { error: 'must have a rule' });
}

function ruleAt(level: number): z.ZodType<ExtractRule, WrittenRule> {
  const short = selector.transform(
    (text): ExtractRule => ({ selector: text, type: 'text', many: false, withText: false }),
  );
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
      metadata: path.optional().meta({
        description:
          'In place of a selector: what the page says to machines. `Product.offers.price`: properties of the first item of a schema.org type (JSON-LD, microdata); `og:title`: Open Graph; `description`: a name of `<meta>`.',
        examples: ['Product.offers.price'],
      }),
      many: flag.default(false).meta({ description: 'List the values of all elements that match.' }),
      withText: flag.default(false).meta({
        description:
          'Answer an object with the `value` and the `text` that it was read from. The value is null when it cannot be read.',
      }),
      rules: rules.meta({ description: 'Rules that are applied below the element, in place of a type.' }),
    },
    'a rule',
    'a selector, or an object with any of selector, type, attribute, metadata, many, withText and rules',
  )
    .superRefine((rule, context) => {
      const { type, attribute, metadata, rules, withText } = rule;
      const refuse = (field: string, message: string) =>
        context.addIssue({ code: 'custom', path: [field], message, continue: false });
      if (type === 'attribute' && attribute === undefined) refuse('attribute', 'is required by the type attribute');
      if (rules !== undefined && type !== undefined)
        refuse('type', 'cannot be combined with rules: remove one of them');
      if (rules !== undefined && attribute !== undefined)
        refuse('attribute', 'cannot be combined with rules: remove one of them');
      if (attribute !== undefined && type !== undefined && !OF_ATTRIBUTES.includes(type))
        refuse('attribute', `cannot be combined with the type ${type}: it takes ${OF_ATTRIBUTES.join(', ')}`);
      if (type === 'count' && rule.many) refuse('many', 'cannot be combined with the type count');
      if (withText && (type === undefined || !OF_TEXTS.includes(type)))
        refuse('withText', `requires one of the types ${OF_TEXTS.join(', ')}`);
      if (metadata === undefined) return;
      if (level > 1) refuse('metadata', 'cannot be nested: use it in a rule of its own');
      for (const field of ['selector', 'attribute', 'rules'] as const) {
        if (rule[field] !== undefined) refuse('metadata', `cannot be combined with ${field}: remove one of them`);
      }
      if (type !== undefined && !OF_METADATA.includes(type))
        refuse('metadata', `cannot be combined with the type ${type}: it takes ${OF_METADATA.join(', ')}`);
    })
    .transform((rule): ExtractRule => {
      if (rule.type !== undefined || rule.rules !== undefined) return rule;
      return { ...rule, type: rule.attribute === undefined ? 'text' : 'attribute' };
    });
}

/** Returns what is wrong with a rule: of a text, of its object's fields, or that it is neither. */
function ruleError({ input, errors = [] }: z.core.$ZodRawIssue): string | undefined {
  const [ofText = [], ofObject = []] = errors as readonly z.core.$ZodIssue[][];
  return joinedProblems(typeof input === 'string' ? ofText : ofObject);
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
      'Values to find in the page, by the names of their rules. A rule is a selector, or an object: `selector` (CSS or XPath), `type` (text, html, attribute, number, money, date, box or count), `attribute`, `metadata` for what the page says to machines, `many` for a list of all that match, `withText`, `rules` for rules below each match. A missing value is null, a missing list is empty. The values are the output `extract`, and `extract` of the result when they are small.',
    examples: [
      {
        title: 'h1',
        price: { selector: '.price', type: 'number' },
        offers: { selector: 'li.offer', many: true, rules: { name: 'b', link: { selector: 'a', attribute: 'href' } } },
      },
    ],
  });

export type Extraction = Immutable<NonNullable<z.output<typeof extractField>>>;
