import { describe, expect, it } from 'vitest';
import { MAX_DIFF_CHARACTERS } from '../../src/capture/comparison/comparison.ts';
import { compareTexts } from '../../src/imaging/comparison/compare-texts.ts';

const compare = (a: readonly string[], b: readonly string[], ignored: readonly string[] = [], inAnyOrder = false) =>
  compareTexts(a.join('\n'), b.join('\n'), { ignored, inAnyOrder });
const SAME = { added: 0, removed: 0, unified: '', truncated: false };

describe('compareTexts', () => {
  it('writes lines that differ as a unified diff, with their places', () => {
    const before = ['Sea', 'Harbours', 'Tides', 'Ropes', 'The end'];
    expect(compare(before, before)).toEqual(SAME);
    expect(compare(before, ['Notice', 'Sea', 'Harbours', 'Tides today', 'Ropes', 'The end'])).toEqual({
      added: 2,
      removed: 1,
      unified: '@@ -0,0 +1,1 @@\n+Notice\n@@ -3,1 +4,1 @@\n-Tides\n+Tides today\n',
      truncated: false,
    });
    expect(compare(before, before.slice(0, 3)).unified).toBe('@@ -4,2 +3,0 @@\n-Ropes\n-The end\n');
  });

  it('aligns lines that occur more than once', () => {
    const before = ['More', 'One', 'More', 'Two', 'More', 'Three', 'More'];
    expect(compare(before, before.toSpliced(2, 0, 'New', 'More'))).toMatchObject({ added: 2, removed: 0 });
  });

  it('leaves out lines that are elsewhere, as often as they are, where order does not matter', () => {
    const before = ['One', 'Two', 'Two', 'Three'];
    expect(compare(before, ['Three', 'Two', 'One', 'Two'], [], true)).toEqual(SAME);
    expect(compare(before, ['Three', 'Two', 'One', 'Four'], [], true)).toMatchObject({ unified: '-Two\n+Four\n' });
  });

  it('leaves out what matches an ignored pattern, and lines of which nothing is left', () => {
    const before = ['Sea', 'Updated 3 min ago by Ann', 'Now: 12:00'];
    const after = ['Sea', 'Updated 9 min ago by Bob', 'Now: 12:34', 'Ad: buy this'];
    const ignored = ['Updated * ago', 'Now: *', 'Ad: *'];
    expect(compare(before, after, ignored)).toMatchObject({ unified: '@@ -2,1 +2,1 @@\n-by Ann\n+by Bob\n' });
    expect(compare(before, after, [...ignored, 'by *'])).toEqual(SAME);
    expect(compare(before, after, ['*'])).toEqual(SAME);
    expect(compare(['a1b a2b c'], ['a3b a4b c'], ['a*b'])).toEqual(SAME);
    expect(compare(['a1b c'], ['a2b c'], ['a*x'])).toMatchObject({ added: 1, removed: 1 });
  });

  it('cuts a long diff, and says so', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}`);
    const { unified, added, truncated } = compare([], lines);
    expect([unified.length, added, truncated]).toEqual([MAX_DIFF_CHARACTERS, 20_000, true]);
  });
});
