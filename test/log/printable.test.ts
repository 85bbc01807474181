import { describe, expect, it } from 'vitest';
import { oneLine, printable, printableJson } from '../../src/log/printable.ts';

/** A title in colour, a clearing of the screen in eight bits, a line break of Unicode, and letters turned around. */
const HOSTILE = 'a\u001b[31mb\u009b2Jc\u2028d\u202ee\u007ff\n\tg \u{e0041}h';
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

describe('what commands print', () => {
  it('has no character in a line that a terminal obeys or nobody sees', () => {
    expect(oneLine(HOSTILE)).toBe('abc d e f g  h');
    expect(printable(HOSTILE)).toBe('abc d e f\n\tg  h');
  });

  it('is JSON with the same value, in which these characters are escaped', () => {
    const value = { [HOSTILE]: [HOSTILE, 'é ⚓ \u{1f6a2}', 1, null] };
    expect(printableJson(value)).not.toMatch(UNPRINTABLE);
    expect(printableJson(value)).toContain('é ⚓ \u{1f6a2}');
    expect(JSON.parse(printableJson(value))).toEqual(value);
    expect(printableJson(['a\nb\u0085'], 2)).toBe('[\n  "a\\nb\\u0085"\n]');
  });
});
