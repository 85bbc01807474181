import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { optionFacts } from './facts.ts';
import { filled, flag, integer, listOf, noneIfEmpty, objectOf, selector } from './fields.ts';

const MAX_ACTIONS = 50;
const MAX_FIELDS = 100;
const MAX_NAME_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 10_000;
const MAX_KEY_CHARACTERS = 50;
const MAX_WAIT_MS = 60_000;
const MAX_SCROLL = 100_000;

const TEXT = `must be a text of at most ${MAX_TEXT_CHARACTERS} characters`;
const TYPES = ['click', 'hover', 'check', 'uncheck', 'type', 'press', 'select', 'scroll', 'wait'];

const text = z.string({ error: TEXT }).max(MAX_TEXT_CHARACTERS, { error: TEXT });
/** The whole text of an element, as a person reads it. */
const label = filled('a text', MAX_NAME_CHARACTERS).register(optionFacts, { secret: false });
const pixels = integer('pixels', -MAX_SCROLL, MAX_SCROLL);

const action = z.discriminatedUnion(
  'type',
  [
    fieldsOf('click', { selector: selector.optional(), text: label.optional() }).refine(
      (click) => (click.selector === undefined) !== (click.text === undefined),
      { error: 'must have either selector or text' },
    ),
    fieldsOf('hover', { selector }),
    fieldsOf('check', { selector }),
    fieldsOf('uncheck', { selector }),
    fieldsOf('type', { selector, text }),
    fieldsOf('press', {
      // A password may be pressed key by key.
      key: filled('a key such as `Enter`, `a` or `Control+A`,', MAX_KEY_CHARACTERS),
      selector: selector.optional(),
    }),
    fieldsOf('select', { selector, value: text }),
    fieldsOf('scroll', { selector: selector.optional(), x: pixels.optional(), y: pixels.optional() }).refine(
      (scroll) => scroll.selector !== undefined || scroll.x !== undefined || scroll.y !== undefined,
      { error: 'must have selector, x or y' },
    ),
    fieldsOf('wait', {
      ms: integer('milliseconds', 0, MAX_WAIT_MS).optional(),
      selector: selector.optional(),
    }).refine((wait) => wait.selector !== undefined || wait.ms !== undefined, { error: 'must have ms or selector' }),
  ],
  {
    error: ({ code }) => {
      const types = `one of ${TYPES.join(', ')}`;
      return code === 'invalid_union' ? `must be ${types}` : `must be an object whose type is ${types}`;
    },
  },
);

export type Action = Immutable<z.output<typeof action>>;
export type ScrollAction = Extract<Action, { type: 'scroll' }>;

const name = filled("a field's name", MAX_NAME_CHARACTERS);
const fields = z
  .record(name, z.union([text, flag], { error: `${TEXT}, or true or false` }), {
    error: ({ code }) =>
      code === 'invalid_key'
        ? `must have a name of 1 to ${MAX_NAME_CHARACTERS} characters`
        : 'must be an object of field names and their values',
  })
  .refine((given) => Object.keys(given).length <= MAX_FIELDS, { error: `must have at most ${MAX_FIELDS} fields` });

const form = objectOf(
  {
    selector: selector.optional().meta({ description: 'Selector of the form. Default: the first form of the page.' }),
    fields: fields.meta({
      description:
        'Values by the names of the fields. A checkbox takes true or false; a group of checkboxes or radio buttons takes the value of one; a select takes the value or text of an option.',
    }),
    submit: flag.default(true).meta({ description: 'Submit the form after filling it in.' }),
  },
  'a form',
  'an object with fields and optionally selector and submit',
);

export type FormFilling = Immutable<z.output<typeof form>>;

/** Actions on the page before it is captured. */
export const interactionFields = {
  actions: listOf(action, 'actions', MAX_ACTIONS)
    .transform(noneIfEmpty)
    .optional()
    .meta({
      description:
        'Steps, performed in order once the page has loaded, each on the first visible element that matches its selector, as soon as it is enabled. A step that cannot be performed fails the capture with `action_failed`.',
      examples: [
        [
          { type: 'click', selector: '#menu' },
          { type: 'type', selector: 'input[name=q]', text: 'tides' },
          { type: 'press', key: 'Enter' },
          { type: 'wait', selector: '#results' },
        ],
      ],
    }),
  form: form.optional().meta({ description: 'Form to fill in, and submit, after the actions.' }),
};

function fieldsOf<T extends string, S extends z.ZodRawShape>(type: T, shape: S) {
  return objectOf({ type: z.literal(type), ...shape }, `an action of type ${type}`, 'an object');
}
