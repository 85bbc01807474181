import { expect, it } from 'vitest';
import { DEFAULT_LIMITS, requestSchemas } from '../../../src/capture/request.ts';

const { watch } = requestSchemas(DEFAULT_LIMITS);
const URL_AND_TIME = { url: 'http://a.test/', schedule: '0 9 * * *' };

it.each([
  ['schedule', { schedule: `${'0,'.repeat(300)}0 * * * *` }],
  ['timeZone', { timeZone: 'x'.repeat(101) }],
  ['ignore.0', { ignore: [`text:${'x'.repeat(1005)}`] }],
  ['labels.0', { labels: ['x'.repeat(65)] }],
])('refuses a watch whose %s is too long, and says how long it may be', (path, field) => {
  const { error } = watch.safeParse({ ...URL_AND_TIME, ...field });
  expect(error?.issues.map((issue) => [issue.path.join('.'), issue.message])).toEqual([
    [path, expect.stringMatching(/^must (?:have at most|be a label: 1 to) \d+ characters/)],
  ]);
});

it('takes a schedule that lists every minute, hour and day', () => {
  const list = (from: number, to: number) => Array.from({ length: to + 1 - from }, (_, at) => at + from).join();
  const schedule = [list(0, 59), list(0, 23), list(1, 31), list(1, 12), list(0, 6)].join(' ');
  expect(watch.safeParse({ ...URL_AND_TIME, schedule }).success).toBe(true);
});

it.each([
  ['at most 20 values', Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`value${at}`, ':is(']))],
  ['at most 10000 characters as JSON', { value: ':is('.repeat(3000) }],
])('refuses values of a watch that do not have %s before their selectors are read', (problem, values) => {
  const { error } = watch.safeParse({ ...URL_AND_TIME, values });
  expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['values', `must have ${problem}`],
  ]);
});
