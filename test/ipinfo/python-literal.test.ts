import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PythonValue, parsePythonLiteral } from '../../src/ipinfo/python-literal.ts';

/** Writes plain data as Python's `repr` does. */
function repr(value: PythonValue): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return reprText(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${reprText(key)}: ${repr(item)}`)
    .join(', ')}}`;
}

function reprText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '\\' || character === quote) return `\\${character}`;
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    if (character === '\t') return '\\t';
    if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : character;
  });
  return quote + escaped.join('') + quote;
}

const text = fc.string({ unit: 'binary' });
const { value: plainData } = fc.letrec<{ value: PythonValue; list: PythonValue; dict: PythonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    text,
    tie('list'),
    tie('dict'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  dict: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

describe('parsePythonLiteral', () => {
  it('parses all output of repr', () => {
    fc.assert(
      fc.property(plainData, (value) => {
        expect(parsePythonLiteral(repr(value))).toEqual(value);
      }),
    );
  });

  it.each<[string, PythonValue]>([
    ["{'error': True, 'reason': 'RateLimited', 'wait': 1.5}", { error: true, reason: 'RateLimited', wait: 1.5 }],
    ["{u'reason': u'it\\'s', 'b': \"a 'quote'\"}", { reason: "it's", b: "a 'quote'" }],
    ["(1, (), ('a',), [2, ])", [1, [], ['a'], [2]]],
    ["{1: None, 'x': -0.5e3,}", { 1: null, x: -500 }],
    ["'\\x41\\u0042\\U0001F600\\101\\q'", 'AB😀A\\q'],
    [' { } ', {}],
  ])('reads %s', (literal, value) => {
    expect(parsePythonLiteral(literal)).toEqual(value);
  });

  it('keeps a key named __proto__ as an ordinary key', () => {
    const value = parsePythonLiteral("{'__proto__': {'error': True}}");
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"error":true}}');
  });

  it.each([
    '',
    'true',
    'null',
    'Brisbane',
    "{'a'}",
    "{'a': }",
    "{'a': 1",
    "{'a': 1} x",
    '[1 2]',
    '[,]',
    "'open",
    "'line\nfeed'",
    "'\\U00110000'",
    '{[1]: 2}',
    "__import__('os')",
    'u',
  ])('refuses %j', (literal) => {
    expect(() => parsePythonLiteral(literal)).toThrow(SyntaxError);
  });

  it('refuses endless nesting without overflowing the stack', () => {
    expect(() => parsePythonLiteral('['.repeat(1_000_000))).toThrow(SyntaxError);
    expect(() => parsePythonLiteral("{'a':".repeat(100_000))).toThrow(SyntaxError);
  });

  it('throws only SyntaxError, whatever the input', () => {
    const soup = fc.string({
      unit: fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '(',
        ')',
        "'",
        '"',
        '\\',
        ',',
        ':',
        'u',
        'x',
        '1',
        '.',
        'e',
        '-',
        'T',
        'True',
        'None',
        ' ',
        '\n',
      ),
    });
    fc.assert(
      fc.property(fc.oneof(soup, fc.string()), (literal) => {
        try {
          parsePythonLiteral(literal);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
