import { describe, expect, it } from 'vitest';
import { nextOfSchedule } from '../../src/watches/local-times.ts';

/** A time zone, and the begin and end of a day there. */
type Day = readonly [timeZone: string, from: string, to: string];

/** Returns the times of a schedule on a day, in UTC, without the year. */
function times(schedule: string, [timeZone, from, to]: Day): readonly string[] {
  const found: number[] = [];
  for (let at = nextOfSchedule(schedule, timeZone, Date.parse(from) - 1); at !== null && at < Date.parse(to); ) {
    found.push(at);
    at = nextOfSchedule(schedule, timeZone, at);
  }
  return found.map((time) => new Date(time).toISOString().slice(5, 16));
}

const BERLIN_SPRING = ['Europe/Berlin', '2026-03-28T23:00Z', '2026-03-29T22:00Z'] as const;
const BERLIN_AUTUMN = ['Europe/Berlin', '2026-10-24T22:00Z', '2026-10-25T23:00Z'] as const;
const NEW_YORK_AUTUMN = ['America/New_York', '2026-11-01T04:00Z', '2026-11-02T05:00Z'] as const;
const LORD_HOWE_SPRING = ['Australia/Lord_Howe', '2026-10-03T13:30Z', '2026-10-04T13:00Z'] as const;
const LORD_HOWE_AUTUMN = ['Australia/Lord_Howe', '2026-04-04T13:00Z', '2026-04-05T13:30Z'] as const;
/** Its clocks go from 24:00 to 01:00. */
const SANTIAGO_SPRING = ['America/Santiago', '2026-09-06T03:00Z', '2026-09-07T03:00Z'] as const;
/** Their clocks go from 24:00 to 01:00, and from 01:00 back to 00:00. */
const AZORES_SPRING = ['Atlantic/Azores', '2026-03-29T01:00Z', '2026-03-30T00:00Z'] as const;
const AZORES_AUTUMN = ['Atlantic/Azores', '2026-10-25T00:00Z', '2026-10-26T01:00Z'] as const;
/** A whole day that was left out. */
const APIA = ['Pacific/Apia', '2011-12-30T10:00Z', '2011-12-31T10:00Z'] as const;

describe('the times of a schedule that names hours', () => {
  it.each([
    ['30 2 * * *', BERLIN_SPRING, ['03-29T01:00']],
    ['30 2,14 * * *', BERLIN_SPRING, ['03-29T01:00', '03-29T12:30']],
    ['0,30 2 * * *', BERLIN_SPRING, ['03-29T01:00']],
    ['*/30 2 * * *', BERLIN_SPRING, ['03-29T01:00']],
    ['0 1-3 * * *', BERLIN_SPRING, ['03-29T00:00', '03-29T01:00']],
    ['15,45 1,2 * * 0', BERLIN_SPRING, ['03-29T00:15', '03-29T00:45', '03-29T01:00']],
    ['30 2 * * *', BERLIN_AUTUMN, ['10-25T00:30']],
    ['30 2,14 * * *', BERLIN_AUTUMN, ['10-25T00:30', '10-25T13:30']],
    ['0,30 2 * * *', BERLIN_AUTUMN, ['10-25T00:00', '10-25T00:30']],
    ['0 1-3 * * *', BERLIN_AUTUMN, ['10-24T23:00', '10-25T00:00', '10-25T02:00']],
    ['59 2 * * *', BERLIN_AUTUMN, ['10-25T00:59']],
    ['0,30 1 * * *', NEW_YORK_AUTUMN, ['11-01T05:00', '11-01T05:30']],
    ['0,15 2 * * *', LORD_HOWE_SPRING, ['10-03T15:30']],
    ['45 1,2 * * *', LORD_HOWE_AUTUMN, ['04-04T14:45', '04-04T16:15']],
    ['0,30 0 * * *', SANTIAGO_SPRING, ['09-06T04:00']],
    ['@daily', SANTIAGO_SPRING, ['09-06T04:00']],
    ['@weekly', SANTIAGO_SPRING, ['09-06T04:00']],
    ['@Midnight', AZORES_SPRING, ['03-29T01:00']],
    ['@daily', AZORES_AUTUMN, ['10-25T00:00']],
    ['0 9,12 30 12 *', APIA, ['12-30T10:00']],
  ] as const)('places %s once each on the day when clocks change, %j', (schedule, day, expected) => {
    expect(times(schedule, day)).toEqual(expected);
  });
});

describe('the times of a schedule with every hour', () => {
  it.each([
    ['30 * * * *', BERLIN_SPRING, 23],
    ['30 * * * *', BERLIN_AUTUMN, 25],
    ['0,30 0-23 * * *', BERLIN_AUTUMN, 50],
    ['*/15 * * * *', NEW_YORK_AUTUMN, 100],
    ['@hourly', AZORES_AUTUMN, 25],
    ['@HOURLY', BERLIN_SPRING, 23],
    ['*/30 * * * *', LORD_HOWE_SPRING, 47],
    ['*/30 * * * *', LORD_HOWE_AUTUMN, 49],
  ] as const)('follow the clock for %s on the day when it changes, %j', (schedule, day, count) => {
    const found = times(schedule, day).map((time) => Date.parse(`2026-${time}Z`));
    expect(found).toHaveLength(count);
    const gaps = found.slice(1).map((time, index) => time - (found[index] ?? time));
    if (!day[0].includes('Lord_Howe')) expect(new Set(gaps).size).toBe(1);
  });
});

describe('a schedule that has no time', () => {
  it('is null', () => {
    expect(nextOfSchedule('0 9 31 2 *', 'Europe/Berlin', Date.parse('2026-01-01'))).toBeNull();
  });
});
