import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { requestSchemas, requestsOfBatch } from '../../src/capture/request.ts';
import { parseOrRefuse } from '../../src/capture/validate.ts';
import { problemsOfReading } from './options/option-problems.ts';

const schemas = requestSchemas({ maxBatch: 3, timeoutMs: 30_000, maxTimeoutMs: 120_000 });

const problemsOf = (schema: (typeof schemas)[keyof typeof schemas], value: unknown) =>
  problemsOfReading(() => parseOrRefuse(schema, value));

async function problemsOfBatch(value: unknown) {
  const reading = (async () => requestsOfBatch(schemas, parseOrRefuse(schemas.batch, value), nextTurn))();
  const outcome = await reading.catch((error: unknown) => error);
  return problemsOfReading(() => {
    throw outcome;
  });
}

const DEFAULTS = {
  allowNetwork: false,
  fullPage: false,
  format: 'png',
  quality: 80,
  viewport: { width: 1280, height: 720, deviceScaleFactor: 1, mobile: false, touch: false },
  omitBackground: false,
  animations: 'allow',
  hideFixed: false,
  hideChats: false,
  hidePopups: false,
  pdf: { paper: 'A4', singlePage: false, preferCssPageSize: false, scale: 1, background: true, outline: false },
  waitUntil: 'settled',
  delayMs: 0,
  darkMode: false,
  reducedMotion: false,
  elementMap: true,
  ignoreCertErrors: false,
  isolation: 'capture',
  blockAds: false,
  cacheMaxAgeMs: 0,
  timeoutMs: 30_000,
};

describe('ScreenshotRequest', () => {
  it('requires only a URL and fills in the defaults of the contract', () => {
    expect(parseOrRefuse(schemas.screenshot, { url: 'example.com' })).toEqual({
      target: {
        url: 'https://example.com',
        parsed: new URL('https://example.com'),
        host: 'example.com',
        schemeAssumed: true,
      },
      ...DEFAULTS,
    });
  });

  it('reads jpg as jpeg, and cuts a deadline to the maximum', () => {
    const request = parseOrRefuse(schemas.screenshot, { url: 'example.com', format: 'jpg', timeoutMs: 9e15 });
    expect(request).toMatchObject({ format: 'jpeg', timeoutMs: 120_000 });
  });

  it('cuts the default deadline to the maximum', () => {
    const { screenshot } = requestSchemas({ maxBatch: 1, timeoutMs: 30_000, maxTimeoutMs: 5_000 });
    expect(parseOrRefuse(screenshot, { url: 'example.com' })).toMatchObject({ timeoutMs: 5_000 });
  });

  it.each<[field: string, value: unknown]>([
    ['extract', Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`rule${at}`, '>>']))],
    ['hide', Array.from({ length: 5000 }, () => '>>')],
    ['actions', Array.from({ length: 2500 }, () => ({ unknown: 1 }))],
    ['viewport', { width: [[Array.from({ length: 5000 }, () => [])]] }],
  ])('refuses more than 5000 values of %s without parsing them', async (field, value) => {
    const message = 'is too much: a request has at most 5000 names and list elements';
    for (const schema of [schemas.screenshot, schemas.watch]) {
      expect(problemsOf(schema, { url: 'example.com', [field]: value })).toEqual([{ path: field, message }]);
    }
    expect(await problemsOfBatch({ requests: [{ [field]: value }] })).toEqual([
      { path: `requests[0].${field}`, message },
    ]);
  });

  it('takes as many values as options may have together', () => {
    const many = <T>(count: number, of: (at: number) => T) => Array.from({ length: count }, (_, at) => of(at));
    const named = <T>(count: number, of: (at: number) => T) =>
      Object.fromEntries(many(count, (at) => [`n${at}`, of(at)]));
    const cookie = { value: 'a', path: '/', secure: true, httpOnly: true, sameSite: 'Lax', expires: 2e9 };
    const rule = { selector: 'a', type: 'attribute', attribute: 'href', many: true };
    const request = {
      url: 'https://example.com',
      cookies: many(100, (at) => ({ name: `n${at}`, ...cookie })),
      headers: named(50, () => 'a'),
      hide: many(50, () => 'a'),
      mask: many(50, () => 'a'),
      actions: many(50, () => ({ type: 'click', selector: 'a' })),
      extract: named(100, () => rule),
      block: { urls: many(100, () => '*://a/*') },
      failOnText: many(50, () => 'a'),
    };
    expect(problemsOf(schemas.screenshot, request)).toEqual([]);
  });

  it('reads empty lists as omitted ones', () => {
    const lists = { hide: [], mask: [], cookies: [], actions: [], evidence: [] };
    expect(parseOrRefuse(schemas.screenshot, { url: 'https://example.com', ...lists })).toEqual(
      parseOrRefuse(schemas.screenshot, { url: 'https://example.com' }),
    );
  });

  it('names every invalid and unknown field, and what is accepted', () => {
    const wrong = { url: 5, fullPage: 'yes', format: 'gif', quality: 101, timeoutMs: 1.5, delay: 1, cookie: [] };
    expect(problemsOf(schemas.screenshot, wrong)).toEqual([
      { path: 'url', message: 'must be a string' },
      { path: 'fullPage', message: 'must be true or false' },
      { path: 'format', message: 'must be png, jpeg, webp or pdf' },
      { path: 'quality', message: 'must be an integer from 1 to 100' },
      { path: 'timeoutMs', message: 'must be an integer of milliseconds, 1 or more' },
      { path: 'delay', message: expect.stringMatching(/its fields are url, .*timeoutMs/) },
      {
        path: 'cookie',
        message: expect.stringContaining('is not a field of a ScreenshotRequest; did you mean delayMs, cookies?'),
      },
    ]);
  });

  it.each([
    [{}, 'url'],
    [{ url: null }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(8192)}` }, 'url'],
    [{ url: 'http://' }, 'url'],
    [{ url: 'x.com', quality: 0 }, 'quality'],
    [{ url: 'x.com', quality: 50.5 }, 'quality'],
    [{ url: 'x.com', quality: '80' }, 'quality'],
    [{ url: 'x.com', timeoutMs: 0 }, 'timeoutMs'],
    [{ url: 'x.com', timeoutMs: -1 }, 'timeoutMs'],
    [{ url: 'x.com', format: 'PNG' }, 'format'],
    [{ url: 'x.com', fullPage: null }, 'fullPage'],
    [{ url: 'x.com', constructor: {} }, 'constructor'],
    [null, ''],
    [[], ''],
    ['https://example.com/', ''],
    [42, ''],
  ])('refuses %j', (value, path) => {
    expect(problemsOf(schemas.screenshot, value).map((problem) => problem.path)).toEqual([path]);
  });

  it.each([
    [{ viewport: { width: 1, height: 1, depth: 1 } }, 'viewport.depth', 'width, height, deviceScaleFactor'],
    [{ clip: { x: 0, y: 0, width: 1, height: 1, z: 0 } }, 'clip.z', 'x, y, width, height'],
    [
      { format: 'pdf', pdf: { size: 'A4' } },
      'pdf.size',
      'paper, width, height, singlePage, landscape, preferCssPageSize, margin, scale, background, outline, headerTemplate, footerTemplate, pageRanges',
    ],
    [{ geolocation: { latitude: 1, longitude: 1, height: 2 } }, 'geolocation.height', 'latitude, longitude, accuracy'],
    [{ httpCredentials: { username: '', password: '', realm: '' } }, 'httpCredentials.realm', 'username, password'],
    [{ proxy: { server: 'http://a:1', bypass: '' } }, 'proxy.bypass', 'server, credentials'],
    [{ javascript: { during: '' } }, 'javascript.during', 'before, after'],
    [{ block: { hosts: [] } }, 'block.hosts', 'types, urls'],
    [{ form: { fields: {}, url: '' } }, 'form.url', 'selector, fields, submit'],
    [{ actions: [{ type: 'wait', ms: 1, s: 1 }] }, 'actions[0].s', 'type, ms, selector'],
  ])('names an unknown field of an option, and the known ones: %j', (options, path, fields) => {
    const message = expect.stringMatching(new RegExp(`^is not a field of [a-z ]+; its fields are ${fields}$`));
    expect(problemsOf(schemas.screenshot, { url: 'x.com', ...options })).toEqual([{ path, message }]);
  });

  it.each([
    [{ headers: { Host: 'x' } }, 'headers.Host', 'cannot be set: it follows from the URL'],
    [{ headers: { 'Sec-Fetch-Site': 'x' } }, 'headers.Sec-Fetch-Site', 'cannot be set: the browser sets it'],
    [{ actions: [{ type: 'tap' }] }, 'actions[0].type', expect.stringMatching(/^must be one of click, /)],
    [{ actions: ['click'] }, 'actions[0]', expect.stringMatching(/^must be an object whose type is one of click, /)],
    [{ actions: [{ type: 'click' }] }, 'actions[0]', 'must have either selector or text'],
    [{ actions: [{ type: 'hover' }] }, 'actions[0].selector', expect.stringMatching(/^must be a CSS selector or/)],
    [{ form: [] }, 'form', 'must be an object with fields and optionally selector and submit'],
    [{ form: { fields: { '': 'x' } } }, 'form.fields.', 'must have a name of 1 to 200 characters'],
    [{ quality: -0.5 }, 'quality', 'must be an integer from 1 to 100'],
    [{ callback: 'ftp://x' }, 'callback', 'must be an http:// or https:// URL'],
  ])('names in one text what is accepted instead of %j', (options, path, message) => {
    expect(problemsOf(schemas.screenshot, { url: 'x.com', ...options })).toEqual([{ path, message }]);
  });

  it('accepts a URL of 8192 characters', () => {
    const url = `https://example.com/${'x'.repeat(8192 - 20)}`;
    expect(parseOrRefuse(schemas.screenshot, { url })).toMatchObject({ target: { url } });
  });
});

describe('BatchRequest', () => {
  it('names every invalid element by its index, once the batch itself is right', async () => {
    const requests = [{ url: 'x.com' }, { url: '' }, { quality: 0 }];
    const pathsOf = async (value: object) => (await problemsOfBatch(value)).map(({ path }) => path);
    expect(await pathsOf({ requests, concurrency: 0, wait: true })).toEqual(['concurrency', 'wait']);
    expect(await pathsOf({ requests })).toEqual(['requests[1].url', 'requests[2].url', 'requests[2].quality']);
  });

  it('waits for the next turn of the event loop between the elements', async () => {
    const requests = [{ url: 'x.com' }, { url: 'y.com' }, { url: 'z.com' }];
    let turns = 0;
    const turn = async () => {
      turns += 1;
    };
    await requestsOfBatch(schemas, parseOrRefuse(schemas.batch, { requests }), turn);
    expect(turns).toBe(2);
  });

  it.each([
    [{}, 'requests'],
    [{ requests: { url: 'x.com' } }, 'requests'],
    [{ requests: ['x.com'] }, 'requests[0]'],
    [{ requests: [{ url: 'x.com', zoom: 2 }] }, 'requests[0].zoom'],
    [{ requests: [], concurrency: 1.5 }, 'concurrency'],
    [{ requests: [], concurrency: '2' }, 'concurrency'],
    [[], ''],
  ])('refuses %j', async (value, path) => {
    expect((await problemsOfBatch(value)).map((problem) => problem.path)).toEqual([path]);
  });

  it('refuses a list that is too long without parsing its elements', () => {
    expect(problemsOf(schemas.batch, { requests: [0, 0, 0, 0] })).toEqual([
      { path: 'requests', message: expect.stringContaining('at most 3') },
    ]);
  });

  it('seeks names that are similar to unknown ones only for the first', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`fullPage${at}`, true]));
    const problems = await problemsOfBatch({ requests: [many, { fullPge: true }] });
    const messageAt = (path: string) => problems.find((each) => each.path === path)?.message;
    expect(messageAt('requests[0].fullPage7')).toMatch(/did you mean fullPage\?/);
    expect(messageAt('requests[1].fullPge')).not.toMatch(/did you mean/);
  });

  it('lists problems of at most 262,144 characters', async () => {
    const full = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`unknown${at}`, true]));
    const problems = await problemsOfBatch({ requests: [full] });
    expect(problems.length).toBeGreaterThan(100);
    expect(problems.reduce((sum, { path, message }) => sum + path.length + message.length, 0)).toBeLessThan(262_145);
  });

  it('accepts an empty list, and a concurrency above the number of slots', () => {
    const batch = { requests: [], concurrency: 9e15 };
    expect(parseOrRefuse(schemas.batch, batch)).toEqual({ ...batch, labels: [] });
  });
});
