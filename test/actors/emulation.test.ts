import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import type { ScreenshotRequest } from '../../src/http/schemas/requests.ts';
import { requestSchemas } from '../../src/http/schemas/requests.ts';
import { patience } from '../support/actor.ts';
import { siteAndActor } from '../support/site-and-actor.ts';

const schemas = requestSchemas({ maxBatch: 1, defaultTimeoutMs: 20_000, maxTimeoutMs: 20_000 });

type Options = Omit<ScreenshotRequest, 'url'>;

describe('the visitor that a page sees', () => {
  const ground = siteAndActor();

  const visit = (options: Options) =>
    ground.running.actor.capture(
      schemas.screenshot.parse({ url: ground.site.url('/visitor'), waitForSelector: '#place', ...options }),
      patience,
    );
  const seenBy = async (options: Options): Promise<Record<string, unknown>> => {
    const { html } = await visit(options);
    const [, json = ''] = /<pre id="visitor">(.*?)<\/pre>/s.exec(html) ?? [];
    const [, place] = /<p id="place">(.*?)<\/p>/s.exec(html) ?? [];
    return { ...JSON.parse(json), place };
  };
  const acceptLanguage = () =>
    ground.site.requests.findLast(({ url }) => url === '/visitor')?.headers['accept-language'];

  it('is an ordinary desktop that says nothing of where it is, by default', async () => {
    expect(await seenBy({})).toMatchObject({
      width: 1280,
      scale: 1,
      touchPoints: 0,
      dark: false,
      calm: false,
      place: 'refused (1)',
    });
  });

  it('is a phone with its screen, its name and no client hints, when the device is one of Apple', async () => {
    const { userAgent, ...seen } = await seenBy({ device: 'iphone 15' });
    expect(userAgent).toMatch(/iPhone.*Safari/);
    expect(seen).toMatchObject({ platform: 'iPhone', width: 393, scale: 3, touchPoints: 5, hints: { brands: [] } });
  });

  it('is a phone with client hints that fit its name, when the device has Chrome', async () => {
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

  it('has a picture as sharp as the screen of its device', async () => {
    const { image, width, height } = await visit({ device: 'iPhone 15' });
    const png = PNG.sync.read(Buffer.from(image));
    expect([png.width, png.height]).toEqual([393 * 3, 659 * 3]);
    expect([width, height]).toEqual([png.width, png.height]);
  });

  it('prefers dark colours and less motion when told to', async () => {
    expect(await seenBy({ darkMode: true })).toMatchObject({ dark: true, calm: false });
    expect(await seenBy({ reducedMotion: true })).toMatchObject({ dark: false, calm: true });
    const { data } = PNG.sync.read(Buffer.from((await visit({ darkMode: true })).image));
    expect([...data.subarray(0, 3)]).toEqual([0x10, 0x18, 0x20]);
  });

  it('speaks the language that it is given, to the server and to scripts', async () => {
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

  it('lives in the time zone that it is given', async () => {
    expect(await seenBy({ timezone: 'asia/tokyo' })).toMatchObject({ timeZone: 'Asia/Tokyo', winterHour: 21 });
  });

  it('is where it is told to be, and says so', async () => {
    const geolocation = { latitude: 48.2082, longitude: 16.3738 };
    expect(await seenBy({ geolocation })).toMatchObject({ place: '48.2082 16.3738 10' });
  });
});

describe('what a request says of its visitor', () => {
  const problemOf = (options: Record<string, unknown>) =>
    schemas.screenshot.safeParse({ url: 'https://example.com', ...options }).error?.issues[0]?.message;

  it('names the nearest devices when it names one that nobody knows', () => {
    expect(problemOf({ device: 'iPhone 51 Pro' })).toMatch(/is not a device that is known; .*iPhone 15 Pro/);
    expect(problemOf({ device: 'galaxy' })).toContain('Galaxy');
    expect(problemOf({ device: '' })).toContain('is not a device');
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
  ])('is refused when it is %j', (options, problem) => {
    expect(problemOf(options)).toContain(problem);
  });

  it('keeps a language tag that Chromium can take, and a time zone by its own name', () => {
    const url = 'https://example.com';
    expect(schemas.screenshot.parse({ url, locale: 'DE-at-u-nu-latn', timezone: 'utc' })).toMatchObject({
      locale: 'de-AT',
      timezone: 'UTC',
    });
  });

  it('puts what it says itself before what its device stands for', () => {
    const request = schemas.screenshot.parse({ url: 'https://example.com', device: 'Pixel 9' });
    expect(request).not.toHaveProperty('device');
    expect(request).toMatchObject({
      viewport: { mobile: true, touch: true },
      userAgent: expect.stringMatching(/Pixel 9/),
    });
  });
});
