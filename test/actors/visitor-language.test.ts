import pLimit from 'p-limit';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import { patience, startActor } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { siteForSuite } from '../support/for-suite.ts';
import { IN_FEW_PIXELS } from '../support/site-and-actor.ts';

/** Everything of an operator's environment that could tell a browser a language or a time zone. */
const NOTHING_SET = Object.fromEntries(
  ['LANG', 'LANGUAGE', 'LC_ALL', 'LC_MESSAGES', 'LC_NUMERIC', 'LC_TIME', 'TZ'].map((name) => [name, undefined]),
);

const PLACES = ['page', 'frame', 'frame of another site', 'worker', 'shared worker'];

const ENGLISH = {
  language: 'en-US',
  languages: ['en-US'],
  price: '€1,234.50',
  locales: ['en-US', 'en-US', 'en-US', 'en-US'],
  timeZone: 'UTC',
  calendar: 'gregory',
  numberingSystem: 'latn',
  date: '7/1/2026, 12:00:00 PM',
  number: '1,234.5',
  acceptLanguage: 'en-US',
};

describe.concurrent('the language and time zone that pages see', () => {
  const site = siteForSuite();
  const egress = createEgress({
    policy: createTargetPolicy({ allow: ['127.0.0.1', 'localhost'], deny: [] }),
    lookup: async () => ['127.0.0.1'],
  });
  afterAll(() => egress.close());

  /** Starts one browser at a time, since each takes the environment of this process. */
  const startingAlone = pLimit(1);

  /** Returns what is seen in each place of a page, by captures of a service that runs in the environment. */
  async function seenIn(environment: Record<string, string | undefined>, ...captures: readonly CaptureOptions[]) {
    const { actor, stop } = await startingAlone(async () => {
      for (const [name, value] of Object.entries({ ...NOTHING_SET, ...environment })) vi.stubEnv(name, value);
      return await startActor({ egress }).finally(() => vi.unstubAllEnvs());
    });
    try {
      const url = site.url(`/language?other=http://localhost:${site.port}`);
      const seen: unknown[] = [];
      for (const options of captures) {
        const request = captureRequest(url, { ...IN_FEW_PIXELS, waitForSelector: '#seen', ...options });
        const { html } = await actor.capture(request, patience);
        const [, json = 'null'] = /<pre id="seen">(.*?)<\/pre>/s.exec(String(html)) ?? [];
        seen.push(JSON.parse(json.replaceAll('&nbsp;', ' ')));
      }
      return seen;
    } finally {
      await stop();
    }
  }

  const everywhere = (seen: object) => Object.fromEntries(PLACES.map((place) => [place, seen]));

  it.each<Record<string, string>>([
    {},
    { LANG: 'POSIX', TZ: '' },
    { LANG: 'de_DE.UTF-8', TZ: 'Asia/Tokyo' },
    { LANGUAGE: 'ja:de', LC_ALL: 'fr_FR.UTF-8', LC_NUMERIC: 'de_DE.UTF-8', LC_TIME: 'C', TZ: ':/etc/localtime' },
    { LC_ALL: '', LC_MESSAGES: 'tr_TR', LANG: 'nonsense' },
  ])('are en-US and UTC for an operator with %j', async (environment) => {
    expect(await seenIn(environment, {})).toEqual([everywhere(ENGLISH)]);
  });

  it('are en-US and UTC in captures by Playwright', async () => {
    expect(await seenIn({ LANG: 'C', TZ: 'Asia/Tokyo' }, { waitForFunction: 'true' })).toEqual([everywhere(ENGLISH)]);
  });

  it('are those of the request', async () => {
    const options = { locale: 'de-AT', timezone: 'America/New_York' };
    const seen = await seenIn({ LANG: 'C' }, options, { ...options, waitForFunction: 'true' });
    const austrian = everywhere({
      language: 'de-AT',
      languages: ['de-AT', 'de'],
      price: '€ 1.234,50',
      locales: ['de-AT', 'de-AT', 'de-AT', 'de-AT'],
      timeZone: 'America/New_York',
      calendar: 'gregory',
      numberingSystem: 'latn',
      date: '1.7.2026, 08:00:00',
      number: '1 234,5',
      acceptLanguage: 'de-AT,de;q=0.9',
    });
    expect(seen).toEqual([austrian, austrian]);
  });
});
