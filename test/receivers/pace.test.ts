import { describe, expect, it } from 'vitest';
import { turnAt } from '../../src/receivers/pace.ts';

describe('quiet hours from 22:00 to 07:00 in Berlin', () => {
  const quiet = { from: 22 * 60, to: 7 * 60, timeZone: 'Europe/Berlin' };
  const isQuiet = (time: string) => turnAt(Date.parse(time), { quiet }, undefined).may === 'wait';

  it.each([
    ['on other days', '2027-01-01T20:59:59Z', '2027-01-01T21:00:00Z', '2027-01-02T05:59:59Z', '2027-01-02T06:00:00Z'],
    [
      'when summer time begins',
      '2027-03-27T20:59:59Z',
      '2027-03-27T21:00:00Z',
      '2027-03-28T04:59:59Z',
      '2027-03-28T05:00:00Z',
    ],
    [
      'when summer time ends',
      '2027-10-30T19:59:59Z',
      '2027-10-30T20:00:00Z',
      '2027-10-31T05:59:59Z',
      '2027-10-31T06:00:00Z',
    ],
  ])('starts and ends quiet hours by local time %s', (_, before, first, last, after) => {
    expect([before, first, last, after].map(isQuiet)).toEqual([false, true, true, false]);
  });

  it('holds back a digest until quiet hours end', () => {
    const pace = { quiet, every: 3_600_000 };
    expect(turnAt(Date.parse('2027-03-28T00:30:00Z'), pace, undefined).may).toBe('wait');
    const end = Date.parse('2027-03-28T05:00:00Z');
    expect(turnAt(end, pace, undefined)).toEqual({ may: 'digest', before: end });
  });
});
