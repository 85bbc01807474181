import { describe, expect, it } from 'vitest';
import { parse, problemsOf } from './option-problems.ts';

const SELECTOR = 'must be a CSS selector or an XPath of 1 to 1000 characters';
const TEXT = 'must be a text of at most 10000 characters';
const TYPES = 'must be an object whose type is one of click, hover, check, uncheck, type, press, select, scroll, wait';
const MILLISECONDS = 'must be an integer of milliseconds from 0 to 60000';
const PIXELS = 'must be an integer of pixels from -100000 to 100000';
const FUNCTION = 'must be a JavaScript expression or function of 1 to 10000 characters';

describe('interaction options', () => {
  it.each([
    [{ actions: { type: 'click' } }, 'actions', 'must be a list of actions'],
    [{ actions: Array(51).fill({ type: 'wait', ms: 1 }) }, 'actions', 'must have at most 50 actions'],
    [{ actions: ['click'] }, 'actions[0]', TYPES],
    [
      { actions: [{ type: 'wait', ms: 1 }, { type: 'swipe' }] },
      'actions[1].type',
      'must be one of click, hover, check, uncheck, type, press, select, scroll, wait',
    ],
    [{ actions: [{ type: 'click' }] }, 'actions[0]', 'must have either selector or text'],
    [{ actions: [{ type: 'click', selector: '#a', text: 'b' }] }, 'actions[0]', 'must have either selector or text'],
    [{ actions: [{ type: 'hover' }] }, 'actions[0].selector', SELECTOR],
    [{ actions: [{ type: 'hover', selector: '' }] }, 'actions[0].selector', SELECTOR],
    [{ actions: [{ type: 'check', selector: 'x'.repeat(1001) }] }, 'actions[0].selector', SELECTOR],
    [
      { actions: [{ type: 'hover', selector: '#a', text: 'b' }] },
      'actions[0].text',
      'is not a field of an action of type hover; its fields are type, selector',
    ],
    [{ actions: [{ type: 'type', selector: '#a' }] }, 'actions[0].text', TEXT],
    [{ actions: [{ type: 'type', selector: '#a', text: 'x'.repeat(10_001) }] }, 'actions[0].text', TEXT],
    [
      { actions: [{ type: 'press', key: '' }] },
      'actions[0].key',
      'must be a key such as `Enter`, `a` or `Control+A`, of 1 to 50 characters',
    ],
    [{ actions: [{ type: 'select', selector: '#a', value: 1 }] }, 'actions[0].value', TEXT],
    [{ actions: [{ type: 'scroll' }] }, 'actions[0]', 'must have selector, x or y'],
    [{ actions: [{ type: 'scroll', y: 0.5 }] }, 'actions[0].y', PIXELS],
    [{ actions: [{ type: 'scroll', x: -100_001 }] }, 'actions[0].x', PIXELS],
    [{ actions: [{ type: 'wait' }] }, 'actions[0]', 'must have ms or selector'],
    [{ actions: [{ type: 'wait', ms: 60_001 }] }, 'actions[0].ms', MILLISECONDS],
    [{ form: [] }, 'form', 'must be an object with fields and optionally selector and submit'],
    [{ form: {} }, 'form.fields', 'must be an object of field names and their values'],
    [{ form: { fields: { a: 1 } } }, 'form.fields.a', `${TEXT}, or true or false`],
    [
      { form: { fields: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, ''])) } },
      'form.fields',
      'must have at most 100 fields',
    ],
    [{ form: { fields: {}, submit: 'yes' } }, 'form.submit', 'must be true or false'],
    [
      { form: { fields: {}, button: 'b' } },
      'form.button',
      'is not a field of a form; its fields are selector, fields, submit',
    ],
    [{ waitForFunction: '' }, 'waitForFunction', FUNCTION],
    [{ waitForFunction: 'x'.repeat(10_001) }, 'waitForFunction', FUNCTION],
  ])('refuses values out of their bounds and names what is accepted: %#', (options, path, message) => {
    expect(problemsOf(options)).toEqual([{ path, message }]);
  });

  it('accepts every kind of action and form value unchanged', () => {
    const options = {
      actions: [
        { type: 'click', selector: '#menu' },
        { type: 'press', key: 'Enter' },
        { type: 'scroll', y: -100 },
        { type: 'wait', selector: '//h2', ms: 0 },
      ],
      form: { fields: { q: '', agree: true } },
      waitForFunction: 'true',
    };
    expect(parse(options)).toMatchObject(options);
  });
});
