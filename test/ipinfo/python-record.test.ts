import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPythonRecord } from '../../src/ipinfo/wire-formats.ts';

type Scalar = string | number | boolean | null;

/** Writes a value as Python's `repr` does. */
function repr(value: Scalar): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replace(/[\\\p{Cc}]|['"]/gu, (character) => {
    if (character === '\\' || character === quote) return `\\${character}`;
    if (/['"]/.test(character)) return character;
    const code = character.charCodeAt(0);
    return { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character] ?? `\\x${code.toString(16).padStart(2, '0')}`;
  });
  return quote + escaped + quote;
}

const text = fc.string({ unit: 'binary' });
const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  text,
);

describe('readPythonRecord', () => {
  it('parses every flat dict as repr writes it', () => {
    fc.assert(
      fc.property(fc.dictionary(text, scalar, { noNullPrototype: true }), (record) => {
        const pairs = Object.entries(record).map(([name, value]) => `${repr(name)}: ${repr(value)}`);
        expect(readPythonRecord(`{${pairs.join(', ')}}`)).toEqual(record);
      }),
    );
  });

  it.each<[string, Record<string, Scalar>]>([
    ["{'error': True, 'reason': 'RateLimited', 'wait': 1.5}", { error: true, reason: 'RateLimited', wait: 1.5 }],
    ["{u'reason': u'it\\'s', 'b': \"a 'quote'\"}", { reason: "it's", b: "a 'quote'" }],
    ["{'a': None, 'x': -0.5e3,}\n", { a: null, x: -500 }],
    ["{'a': '\\x41\\u0042\\q'}", { a: 'AB\\q' }],
    [' { } ', {}],
  ])('reads %s', (literal, record) => {
    expect(readPythonRecord(literal)).toEqual(record);
  });

  it.each([
    '',
    'Brisbane',
    "{'a'}",
    "{'a': }",
    "{'a': 1",
    "{'a': 1} x",
    "{'a': 'line\nfeed'}",
    "{'a': true}",
    "{'a': 1 2}",
    "{'a': {'b': 1}}",
    "{'a': __import__('os')}",
    `{'a': '${'\\'.repeat(100_001)}'}`,
    `${"{'a':".repeat(100_000)}`,
  ])('refuses %.40j', (literal) => {
    expect(readPythonRecord(literal)).toBeNull();
  });

  it('keeps a key named __proto__ as an ordinary key', () => {
    expect(JSON.stringify(readPythonRecord("{'__proto__': True}"))).toBe('{"__proto__":true}');
  });
});
