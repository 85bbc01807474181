import { afterAll, describe, expect, it } from 'vitest';
import type { ScreenshotRequest } from '../../src/capture/request.ts';
import { requestSchemas } from '../../src/capture/request.ts';
import { createTargetPolicy } from '../../src/egress/address-policy.ts';
import { createEgress } from '../../src/egress/create-egress.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, siteForSuite } from '../support/for-suite.ts';
import { pixelsOf } from '../support/image.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const schemas = requestSchemas({ maxBatch: 1, timeoutMs: 60_000, maxTimeoutMs: 60_000 });

type Options = Omit<ScreenshotRequest, 'url'>;

describe('visitor emulation', () => {
  const ground = siteAndActor();

  const visit = (options: Options) =>
    ground.running.actor.capture(
      schemas.screenshot.parse({ url: ground.site.url('/visitor'), waitForSelector: '#place', ...options }),
      patience,
    );
  const seenBy = async (options: Options): Promise<Record<string, unknown>> => {
    const html = String((await visit(options)).html);
    const [, json = ''] = /<pre id="visitor">(.*?)<\/pre>/s.exec(html) ?? [];
    const [, place] = /<p id="place">(.*?)<\/p>/s.exec(html) ?? [];
    return { ...JSON.parse(json), place };
  };
  const acceptLanguage = () =>
    ground.site.requests.findLast(({ url }) => url === '/visitor')?.headers['accept-language'];

  it.each<[Options['media'], string]>([
    [undefined, 'screen'],
    ['screen', 'screen'],
    ['print', 'print'],
  ])('matches media queries of %s as %s media', async (media, matched) => {
    const after = "document.title = ['screen', 'print'].filter((type) => matchMedia(type).matches).join()";
    expect((await visit({ ...(media && { media }), javascript: { after } })).title).toBe(matched);
  });

  it('applies the print styles with media print', async () => {
    const css = '@media print { body { background: rgb(0, 200, 0); } }';
    const colour = async (media: 'screen' | 'print') => {
      const { data } = await pixelsOf((await visit({ media, css })).image);
      return [...data.subarray(0, 3)];
    };
    expect(await colour('print')).toEqual([0, 200, 0]);
    expect(await colour('screen')).toEqual([255, 255, 255]);
  });

  it.each<[string, Options]>([
    ['our driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('claims to be an ordinary desktop, without a location, by default (%s)', async (_, driver) => {
    const { userAgent, ...seen } = await seenBy(driver);
    const [, version] =
      /^Mozilla\/5\.0 \([^)]+\) AppleWebKit\/537\.36 \(KHTML, like Gecko\) Chrome\/(\d+)\.0\.0\.0 Safari\/537\.36$/.exec(
        String(userAgent),
      ) ?? [];
    expect(version, String(userAgent)).toBeDefined();
    expect(seen).toMatchObject({
      width: 1280,
      scale: 1,
      screen: [1280, 720, 1280, 720],
      outer: [1280, 720],
      orientation: ['landscape-primary', 0],
      deviceWidth: true,
      hover: [true, true],
      pointer: ['fine', 'fine'],
      touchPoints: 0,
      webdriver: false,
      hints: { mobile: false, brands: expect.arrayContaining([{ brand: 'Google Chrome', version }]) },
      dark: false,
      calm: false,
      place: 'refused (1)',
    });
    const { headers } = ground.site.requests.findLast(({ url }) => url === '/visitor') ?? {};
    expect(headers?.['user-agent']).toBe(userAgent);
    expect(headers?.['sec-ch-ua']).toContain(`"Google Chrome";v="${version}"`);
    expect(JSON.stringify([headers, seen])).not.toMatch(/headless/i);
  });

  it('claims a screen of the size and orientation of the viewport', async () => {
    expect(await seenBy({ viewport: { width: 800, height: 1000 } })).toMatchObject({
      width: 800,
      screen: [800, 1000, 800, 1000],
      outer: [800, 1000],
      orientation: ['portrait-primary', 0],
      hover: [true, true],
      pointer: ['fine', 'fine'],
    });
  });

  it.each<[string, Options]>([
    ['our driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('claims the screen, touch and orientation of the requested device (%s)', async (_, driver) => {
    const touch = { hover: [false, false], pointer: ['coarse', 'coarse'], touchPoints: 5, deviceWidth: true };
    expect(await seenBy({ ...driver, device: 'iPhone 15' })).toMatchObject({
      ...touch,
      width: 393,
      screen: [393, 852, 393, 852],
      outer: [393, 659],
      orientation: ['portrait-primary', 0],
    });
    expect(await seenBy({ ...driver, device: 'iPhone 15 landscape' })).toMatchObject({
      ...touch,
      width: 734,
      screen: [852, 393, 852, 393],
      orientation: ['landscape-primary', 90],
    });
  });

  it('claims the screen of a desktop device, with a pointer', async () => {
    expect(await seenBy({ device: 'Desktop Chrome' })).toMatchObject({
      width: 1280,
      screen: [1920, 1080, 1920, 1080],
      orientation: ['landscape-primary', 0],
      hover: [true, true],
      pointer: ['fine', 'fine'],
    });
  });

  it('claims the screen and user agent of an Apple phone, without client hints', async () => {
    const { userAgent, ...seen } = await seenBy({ device: 'iphone 15' });
    expect(userAgent).toMatch(/iPhone.*Safari/);
    expect(seen).toMatchObject({ platform: 'iPhone', width: 393, scale: 3, touchPoints: 5, hints: null });
  });

  it('claims client hints that fit the user agent for a device with Chrome', async () => {
    const { userAgent, ...seen } = await seenBy({ device: 'Pixel 9' });
    const [, version] = /Chrome\/(\d+)/.exec(String(userAgent)) ?? [];
    expect(seen).toMatchObject({
      hints: {
        mobile: true,
        platform: 'Android',
        brands: expect.arrayContaining([{ brand: 'Google Chrome', version }]),
      },
    });
  });

  it('takes the screenshot at the scale factor of the device', async () => {
    const { image, width, height } = await visit({ device: 'iPhone 15' });
    const png = await pixelsOf(image);
    expect([png.width, png.height]).toEqual([393 * 3, 659 * 3]);
    expect([width, height]).toEqual([png.width, png.height]);
  });

  it('prefers dark colours and reduced motion on request', async () => {
    expect(await seenBy({ darkMode: true })).toMatchObject({ dark: true, calm: false });
    expect(await seenBy({ reducedMotion: true })).toMatchObject({ dark: false, calm: true });
    const { data } = await pixelsOf((await visit({ darkMode: true })).image);
    expect([...data.subarray(0, 3)]).toEqual([0x10, 0x18, 0x20]);
  });

  it('sends the requested language to the server, and reports it to scripts', async () => {
    expect(await seenBy({ locale: 'de-AT' })).toMatchObject({
      languages: ['de-AT', 'de'],
      number: expect.stringMatching(/^1.*234,5$/),
    });
    expect(acceptLanguage()).toBe('de-AT,de;q=0.9');
    const { userAgent: own } = await seenBy({});
    expect((await seenBy({ locale: 'de-AT' })).userAgent).toBe(own);
    const { userAgent } = await seenBy({ locale: 'de-AT', device: 'Pixel 9' });
    expect(userAgent).toContain('Pixel 9');
    expect(acceptLanguage()).toBe('de-AT,de;q=0.9');
  });

  it('uses the requested time zone', async () => {
    expect(await seenBy({ timezone: 'asia/tokyo' })).toMatchObject({ timeZone: 'Asia/Tokyo', winterHour: 21 });
  });

  it('reports the requested location', async () => {
    const geolocation = { latitude: 48.2082, longitude: 16.3738 };
    expect(await seenBy({ geolocation })).toMatchObject({ place: '48.2082 16.3738 10' });
  });
});

describe('visitor emulation in a frame of another site', () => {
  const site = siteForSuite();
  const egress = createEgress({
    policy: createTargetPolicy({ allow: ['127.0.0.1', 'localhost'], deny: [] }),
    lookup: async () => ['127.0.0.1'],
  });
  const running = actorForSuite({ egress });
  afterAll(() => egress.close());

  it.each<[string, Options]>([
    ['our driver', {}],
    ['Playwright', { waitForFunction: 'true' }],
  ])('claims the same properties as in the page (%s)', async (_, driver) => {
    const request = schemas.screenshot.parse({
      ...driver,
      url: site.url(`/framing?src=${encodeURIComponent(`http://localhost:${site.port}/framed-visitor`)}`),
      device: 'Pixel 9',
      locale: 'de-AT',
      timezone: 'Asia/Tokyo',
      darkMode: true,
      reducedMotion: true,
    });
    const hits = site.hits('/seen');
    await running.actor.capture(request, patience);
    expect(site.hits('/seen')).toBe(hits + 1);
    const { url = '', headers } = site.requests.findLast(({ url }) => url.startsWith('/seen')) ?? {};
    const seen: unknown = JSON.parse(new URL(url, site.origin).searchParams.get('by') ?? '');
    expect(seen).toMatchObject({
      userAgent: request.userAgent,
      platform: 'Linux armv81',
      languages: ['de-AT', 'de'],
      hints: { platform: 'Android', mobile: true },
      timeZone: 'Asia/Tokyo',
      dark: true,
      calm: true,
      hover: false,
      touchPoints: 5,
    });
    expect(headers?.['user-agent']).toBe(request.userAgent);
  });
});

describe('the user agent with --honest-user-agent', () => {
  const site = siteForSuite();
  const running = actorForSuite({ honestUserAgent: true });

  it('sends the user agent of the headless browser, which says that it is automated', async () => {
    const { html } = await running.actor.capture(captureRequest(site.url('/visitor')), patience);
    expect(html).toMatch(/"userAgent":"[^"]*HeadlessChrome\//);
    expect(html).toContain('"brand":"HeadlessChrome"');
    expect(html).toContain('"webdriver":true');
    expect(html).toContain('"hover":[true,true]');
  });
});

describe('the emulation options of a request', () => {
  const problemOf = (options: Record<string, unknown>) =>
    schemas.screenshot.safeParse({ url: 'https://example.com', ...options }).error?.issues[0]?.message;

  it('lists the nearest devices when the device is unknown', () => {
    expect(problemOf({ device: 'iPhone 51 Pro' })).toMatch(/is not a known device; .*iPhone 15 Pro/);
    expect(problemOf({ device: 'galaxy' })).toContain('Galaxy');
    expect(problemOf({ device: '' })).toContain('is not a known device');
  });

  it.each([
    [{ device: 5 }, 'the name of a device'],
    [{ device: 'x'.repeat(101) }, 'at most 100 characters'],
    [{ darkMode: 'yes' }, 'true or false'],
    [{ reducedMotion: 1 }, 'true or false'],
    [{ locale: 'german' }, 'BCP 47'],
    [{ locale: 'de_AT' }, 'BCP 47'],
    [{ timezone: 'Europe/Atlantis' }, 'IANA'],
    [{ timezone: '+01:00' }, 'IANA'],
    [{ geolocation: { latitude: 91, longitude: 0 } }, 'from -90 to 90'],
    [{ geolocation: { latitude: 0, longitude: -181 } }, 'from -180 to 180'],
    [{ geolocation: { latitude: 0, longitude: 0, accuracy: -1 } }, 'metres'],
    [{ geolocation: [1, 2] }, 'latitude, longitude'],
  ])('rejects %j', (options, problem) => {
    expect(problemOf(options)).toContain(problem);
  });

  it('normalises a language tag for Chromium, and keeps the spelling of a time zone', () => {
    const url = 'https://example.com';
    expect(schemas.screenshot.parse({ url, locale: 'DE-at-u-nu-latn', timezone: 'utc' })).toMatchObject({
      locale: 'de-AT',
      timezone: 'UTC',
    });
  });

  it('prefers the options of the request to the values of the device', () => {
    const own = { userAgent: 'mine', viewport: { height: 500 } };
    const request = schemas.screenshot.parse({ url: 'https://example.com', device: 'Pixel 9', ...own });
    expect(request).toMatchObject({
      device: 'Pixel 9',
      viewport: { height: 500, mobile: true, touch: true },
      userAgent: 'mine',
    });
  });
});
