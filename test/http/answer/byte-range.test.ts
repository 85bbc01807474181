import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readByteRange } from '../../../src/http/answer/byte-range.ts';

describe('readByteRange of a file of 100 bytes', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=50-1000', { start: 50, end: 99 }],
    ['bytes=99-99', { start: 99, end: 99 }],
    ['Bytes = 1 - 2', { start: 1, end: 2 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['', null],
    ['bytes=', null],
    ['bytes=-', null],
    ['bytes=9-0', null],
    ['bytes=0-1,5-6', null],
    ['items=0-1', null],
    ['bytes=a-b', null],
  ] as const)('returns for %j the range %o', (header, expected) => {
    expect(readByteRange(header, 100)).toEqual(expected);
  });

  it('returns unsatisfiable for an empty file', () => {
    expect(readByteRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(readByteRange('bytes=-5', 0)).toBe('unsatisfiable');
  });

  it('returns only ranges inside the file', () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(200), fc.integer({ min: 1, max: 150 }), (start, end, size) => {
        const range = readByteRange(`bytes=${start}-${end}`, size);
        if (range === null || range === 'unsatisfiable') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThanOrEqual(range.start);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });
});
