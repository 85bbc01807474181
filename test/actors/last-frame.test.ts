import { describe, expect, it } from 'vitest';
import type { CaptureOptions } from '../../src/capture/request.ts';
import { failureOf } from '../support/actor.ts';
import { LATE } from '../support/capture-request.ts';
import { type Colour, countOf, pngOf } from '../support/image.ts';
import { NARROW, siteAndActor, WAITING_SLOTS } from '../support/site-and-actor.ts';

const GREEN: Colour = [0, 160, 0, 255];

describe('capture of a page that is blocked until its deadline', () => {
  const ground = siteAndActor({ viewport: NARROW }, WAITING_SLOTS);

  const capture = (overrides: CaptureOptions = {}, path = '/late/blocked') =>
    ground.capture(path, { ...LATE, ...overrides });

  it.concurrent.each([
    { fullPage: false, truncated: false },
    { fullPage: true, truncated: true },
  ])('returns a partial capture that shows the window, with %o', async ({ fullPage, truncated }) => {
    const snapshot = await capture({ fullPage });
    expect(snapshot).toMatchObject({ ...NARROW, truncated, cutPhase: expect.any(String) });
    expect(snapshot).toMatchObject({ title: 'Blocked', responseCode: 200, responseReason: 'OK', protocol: 'http/1.1' });
    expect(snapshot).toMatchObject({ finalUrl: ground.site.url('/late/blocked'), contentType: 'text/html' });
    expect(countOf(await pngOf(snapshot), GREEN)).toBe(NARROW.width * NARROW.height);
  });

  it.concurrent.each(['jpeg', 'webp'] as const)(
    'returns the window as %s at the scale factor of the viewport',
    async (format) => {
      const viewport = { width: 300, height: 200, deviceScaleFactor: 2 };
      const { width, height, image } = await capture({ format, viewport });
      expect([width, height]).toEqual([600, 400]);
      const { default: sharp } = await import('sharp');
      expect(await sharp(image).metadata()).toMatchObject({ format, width: 600, height: 400 });
    },
  );

  it.concurrent.each([
    { selector: 'div' },
    { clip: { x: 0, y: 0, width: 10, height: 10 } },
    { mask: ['div'] },
    { hide: ['div'] },
    { omitBackground: true },
    { format: 'pdf' },
  ] satisfies CaptureOptions[])('times out with %o', async (overrides) => {
    expect((await failureOf(capture(overrides))).code).toBe('capture_timeout');
  });

  it.concurrent('times out when the page has painted nothing', async () => {
    expect((await failureOf(capture({}, '/late/blocked?blank'))).code).toBe('capture_timeout');
  });
});
